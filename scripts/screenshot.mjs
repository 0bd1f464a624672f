// npm run screenshot [-- --url URL] [-- --job ID]: the README's picture, from a dashboard with a real job, and a tour of every section in
// .imprint/tour to look at: light, dark, on a phone. Without --job it imports the example session into the running service
// (imprint serve) and trains on it first.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { createClient } from "@imprint/client";
import { chromium } from "playwright-core";
import { ROOT } from "./lib/setup/main.mjs";
import { findChromium, NO_CHROMIUM } from "./lib/test/chromium.mjs";

const PICTURE = path.join(ROOT, "docs", "images", "dashboard.png");
const EXAMPLE = path.join(ROOT, "examples", "sessions", "harborline-gates.json");
const LIMIT_BYTES = 300_000;
const SIZE = { width: 1280, height: 860 };
const TOUR = path.join(ROOT, ".imprint", "tour");
const LOOKS = {
  light: { viewport: SIZE },
  dark: { viewport: SIZE, colorScheme: "dark" },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true },
};

async function train(client) {
  const { session_id } = await client.sessions.create(readFileSync(EXAMPLE));
  const { job_id } = await client.train.lora({ session_id, include_unsuccessful: true });
  console.log(`Training on ${session_id}, job ${job_id}`);
  const job = await client.jobs.waitFor(job_id);
  if (job.status !== "completed") throw new Error(`The job ${job.status}: ${job.error?.message ?? ""}`);
  return job_id;
}

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

const { values } = parseArgs({ options: { url: { type: "string", default: "http://127.0.0.1:7878" }, job: { type: "string" } } });
const picture = await take(values.url, values.job ?? (await train(createClient({ baseUrl: values.url }))));
if (picture.length > LIMIT_BYTES) throw new Error(`The picture has ${picture.length} bytes; ${LIMIT_BYTES} is the limit.`);
mkdirSync(path.dirname(PICTURE), { recursive: true });
writeFileSync(PICTURE, picture);
console.log(`${path.relative(process.cwd(), PICTURE)}: ${Math.round(picture.length / 1000)} kB`);
