// npm run screenshot -- JOB [--url URL]: the README's picture, from the dashboard of a running service with a training, and a tour of
// every section in .imprint/tour to look at: light, dark, on a phone.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { ROOT } from "./lib/setup/main.mjs";
import { findChromium, NO_CHROMIUM } from "./lib/test/chromium.mjs";
import { refuse } from "./lib/trainer.mjs";

const PICTURE = path.join(ROOT, "docs", "images", "dashboard.png");
const LIMIT_BYTES = 300_000;
const SIZE = { width: 1280, height: 860 };
const TOUR = path.join(ROOT, ".imprint", "tour");
const LOOKS = {
  light: { viewport: SIZE },
  dark: { viewport: SIZE, colorScheme: "dark" },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true },
};

async function tour(browser, url, hashes) {
  mkdirSync(TOUR, { recursive: true });
  for (const [look, options] of Object.entries(LOOKS)) {
    const page = await browser.newPage(options);
    for (const hash of hashes) {
      await page.goto(`${url}/${hash}`);
      await page.waitForTimeout(700); // a page that listens never rests
      const name = hash.replace(/^#\//, "").replaceAll(/[^\w-]/g, "-");
      await page.screenshot({ path: path.join(TOUR, `${name}-${look}.png`), fullPage: true });
    }
  }
}

async function take(url, jobId) {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error(NO_CHROMIUM);
  const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
  try {
    const page = await browser.newPage({ viewport: SIZE });
    await page.goto(`${url}/#/jobs/${jobId}`);
    await page.getByRole("img", { name: /^Loss: \d+ points/ }).waitFor();
    await page.getByText("Proof").waitFor();
    const picture = await page.screenshot();
    const sections = await page.locator("nav a[data-keys]").evaluateAll((links) => links.map((link) => link.hash));
    const adapter = await page.getByRole("link", { name: "Adapter", exact: true }).first().getAttribute("href");
    await tour(browser, url, [...sections, `#/jobs/${jobId}`, adapter]);
    return picture;
  } finally {
    await browser.close();
  }
}

const options = { url: { type: "string", default: "http://127.0.0.1:7878" } };
const { values, positionals } = parseArgs({ options, allowPositionals: true });
if (positionals.length !== 1) refuse("usage: npm run screenshot -- JOB [--url URL]");
const picture = await take(values.url, positionals[0]);
if (picture.length > LIMIT_BYTES) throw new Error(`The picture has ${picture.length} bytes; ${LIMIT_BYTES} is the limit.`);
mkdirSync(path.dirname(PICTURE), { recursive: true });
writeFileSync(PICTURE, picture);
console.log(`${path.relative(process.cwd(), PICTURE)}: ${Math.round(picture.length / 1000)} kB`);
