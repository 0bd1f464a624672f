import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { findChromium, NO_CHROMIUM } from "../../../../../scripts/lib/test/chromium.mjs";
import { build } from "../../../../cli/test/support/build.js";

/** Beyond this something hangs: a busy machine needs seconds for what takes a tenth of one. */
export const PATIENCE_MS = 30_000;
export const TEST_MS = 120_000;

let browser: Browser | null = null;

/** Builds the dashboard and starts the browser before a file's tests. */
export const provideBrowser = (): void => {
  beforeAll(async () => {
    const executablePath = findChromium();
    if (executablePath === null) throw new Error(NO_CHROMIUM);
    await build();
    // Chromium's own sandbox refuses to run as root; the pages that it opens are this service's alone.
    const args = [...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), "--disable-dev-shm-usage", "--disable-gpu"];
    browser = await chromium.launch({ executablePath, args });
  }, 2 * TEST_MS);
  afterAll(async () => {
    await browser?.close();
    browser = null;
  });
};

/** What a page said on its console and threw; empty when all is well. */
export const faultsOf = (page: Page): readonly string[] => FAULTS.get(page) ?? [];
const FAULTS = new WeakMap<Page, string[]>();

/** A page of a browser profile of its own, closed when the test ends. */
export const openPage = async (url: string, options: BrowserContextOptions = {}): Promise<Page> => {
  if (browser === null) throw new Error("call provideBrowser() in the test file");
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  FAULTS.set(page, faults);
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`thrown: ${error.message}`));
  await page.goto(url);
  return page;
};

export const expectNoFaults = (page: Page): void => expect(faultsOf(page)).toEqual([]);
