import { join } from "node:path";
import { expect, test } from "vitest";
import { expectNoFaults, openPage, PATIENCE_MS, provideBrowser, TEST_MS } from "./support/browser.js";
import { makeFolder, putSession, startLora, startService } from "./support/stage.js";

provideBrowser();

test(
  "the page counts every job, finds those of a status beyond the newest hundred, and pages to the oldest",
  async () => {
    const service = await startService({ behaviour: { wait_for: join(makeFolder(), "never") }, flags: { max_queued: 200 } });
    putSession(service.dataDir, "s");
    const failed: string[] = [];
    for (let at = 0; at < 5; at += 1) failed.push(await startLora(service, { session_id: "none", adapter_id: `failed-${at}` }));
    await service.ended(failed.at(-1) ?? "");
    await startLora(service, { session_id: "s", adapter_id: "running" });
    for (let at = 0; at < 120; at += 1) {
      const jobId = await startLora(service, { session_id: "s", adapter_id: `cancelled-${at}` });
      service.jobs.cancel(jobId);
    }
    const page = await openPage(`${service.url}/#/jobs`);
    const filters = page.getByRole("navigation", { name: "Filter by status" });
    await filters.getByText("all 126").waitFor();
    await filters.getByText("failed 5").waitFor();
    await page.getByRole("link", { name: "running", exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "cancelled-0", exact: true }).count()).toBe(0);
    await page.getByRole("button", { name: "Older jobs" }).click();
    await page.getByRole("link", { name: "cancelled-0", exact: true }).waitFor();
    await page.getByRole("link", { name: "failed-0" }).waitFor();
    expect(await page.getByRole("button", { name: "Older jobs" }).count()).toBe(0);

    await filters.getByText("failed 5").click();
    // The list of all jobs, which has them too, goes once theirs is asked for.
    await expect.poll(() => page.getByRole("row").count(), { timeout: PATIENCE_MS }).toBe(6);
    await page.getByRole("link", { name: "failed-4" }).waitFor();
    service.jobs.cancel(service.jobs.list({ status: "running", limit: 1 }).jobs[0]?.job_id ?? "");
    await filters.getByText("cancelled 121").waitFor();
    expectNoFaults(page);
  },
  TEST_MS,
);
