import { randomUUID } from "node:crypto";
import { join } from "node:path";
import Libsql from "libsql";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectNoFaults, openPage, PATIENCE_MS, provideBrowser, TEST_MS } from "./support/browser.js";
import { makeFolder, makeSession, putSession, type Service, startService, startTrained } from "./support/stage.js";

const SESSIONS = 2_000;
const ADAPTERS = 1_000;

provideBrowser();

/** Copies of the first adapter's row, each of thirty sessions. */
function multiplyAdapters(dataDir: string): void {
  const database = new Libsql(join(dataDir, "registry.db"));
  const columns = (database.prepare("select name from pragma_table_info('adapters')").all() as { name: string }[])
    .map(({ name }) => name)
    .filter((name) => !["seq", "adapter_id", "job_id", "session_ids"].includes(name));
  const copy = database.prepare(
    `insert into adapters (adapter_id, job_id, session_ids, ${columns.join(", ")}) select ?, ?, ?, ${columns.join(", ")} from adapters where adapter_id = 'first-run'`,
  );
  database.transaction(() => {
    for (let at = 0; at < ADAPTERS; at++)
      copy.run(`many-${at}`, randomUUID(), JSON.stringify(Array.from({ length: 30 }, () => randomUUID())));
  })();
  database.close();
}

/** A service with thousands of sessions. */
const startMany = (): Promise<Service> => {
  const dataDir = makeFolder();
  for (let at = 0; at < SESSIONS; at++) {
    const id = `session-${at}`;
    const source = { ...makeSession(id).source, repository: `shop-${at % 40}` };
    putSession(dataDir, id, makeSession(id, { source }));
  }
  return startService({ dataDir });
};

const fits = async (page: Page): Promise<void> => {
  for (const width of [390, 768, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
  }
  // On a phone a row is a card: nothing of a list scrolls sideways either.
  await page.setViewportSize({ width: 390, height: 900 });
  const beyond =
    "Math.max(0, ...[...document.querySelectorAll('section.scroll')].map((one) => one.scrollWidth - one.clientWidth))";
  expect(await page.evaluate(beyond)).toBe(0);
  await page.setViewportSize({ width: 1440, height: 900 });
  expect(await page.evaluate("document.querySelectorAll('*').length")).toBeLessThan(2_000);
  expectNoFaults(page);
};

test(
  "thousands of sessions are paged, found by words, and trained on, labelled, exported and deleted together, the last after a second press",
  async () => {
    const service = await startMany();
    const page = await openPage(`${service.url}/#/sessions`);
    const rows = page.getByRole("region", { name: "Stored sessions" }).getByRole("row");
    await rows.nth(50).waitFor();
    await fits(page);
    const box = () => page.getByRole("checkbox").first();
    await box().check();
    await page.getByRole("button", { name: "Older" }).click();
    await page.getByRole("button", { name: "Newer" }).and(page.locator(":enabled")).waitFor();
    await page.getByRole("link", { name: "Train on 1 session" }).waitFor();
    await page.getByRole("searchbox", { name: "Search sessions" }).fill("session-1999");
    await expect.poll(() => rows.count(), { timeout: PATIENCE_MS }).toBe(2);
    await page.getByRole("checkbox", { name: "Choose session-1999" }).check();
    await page.getByRole("link", { name: "Train on 2 sessions" }).click();
    await page
      .getByRole("checkbox", { name: /session-1999/ })
      .and(page.locator(":checked"))
      .waitFor();
    await fits(page);

    await page.goto(`${service.url}/#/sessions`);
    await page.getByRole("combobox", { name: "Trained" }).selectOption("Trained on");
    await page.getByText("No session is like this.").waitFor();
    await page.getByRole("combobox", { name: "Trained" }).selectOption("Not trained on");
    await page.getByLabel("Recorded until").fill("2001-02-03");
    await page.getByText("No session is like this.").waitFor();
    await page.getByLabel("Recorded until").fill("");
    await page.getByRole("searchbox", { name: "Search sessions" }).fill("session-77");
    for (const id of ["session-77", "session-777"])
      await page.getByRole("checkbox", { name: `Choose ${id}`, exact: true }).check();
    await page.getByRole("button", { name: "Mark as failure" }).click();
    await page.getByRole("link", { name: /Train on/ }).waitFor({ state: "detached" });
    await page.getByRole("combobox", { name: "Outcome" }).selectOption("failure");
    for (const id of ["session-77", "session-777"])
      await page.getByRole("checkbox", { name: `Choose ${id}`, exact: true }).check();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(
      "imprint export-sessions session-77 session-777 --format messages --out sessions.jsonl",
    );
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete 2 sessions for good" }).click();
    await page.getByText("No session is like this.").waitFor();
    expectNoFaults(page);
  },
  TEST_MS,
);

test(
  "a thousand adapters of thirty sessions each are paged, and found by words",
  async () => {
    const service = await startTrained();
    multiplyAdapters(service.dataDir);
    const page = await openPage(`${service.url}/#/adapters`);
    const rows = page.getByRole("region", { name: "Adapters" }).getByRole("row");
    await rows.nth(50).waitFor();
    expect(await rows.nth(1).textContent()).toContain("and 29 more");
    await fits(page);
    await page.getByRole("combobox", { name: "Sort" }).selectOption("Most helpful first");
    await page.getByRole("button", { name: "Older" }).click();
    await page.getByRole("button", { name: "Newer" }).and(page.locator(":enabled")).waitFor();
    await page.getByRole("searchbox", { name: "Search adapters" }).fill("many-555");
    await expect.poll(() => rows.count(), { timeout: PATIENCE_MS }).toBe(2);
  },
  TEST_MS,
);
