import { expect, test } from "vitest";
import { expectNoFaults, openPage, provideBrowser, TEST_MS } from "./support/browser.js";
import { makeFolder, putSession, startService } from "./support/stage.js";

provideBrowser();

test(
  "the page of a sweep draws the trials' held-out losses, and lists what was tried and how much the best figure is worth",
  async () => {
    const dataDir = makeFolder();
    for (const id of ["s1", "s2"]) putSession(dataDir, id);
    const service = await startService({ dataDir });
    const body = { session_ids: ["s1", "s2"], adapter_id: "best", seed: 7, rank: [4, 8], learning_rate: [1e-4, 3e-4] };
    const { job_id: jobId } = (await service.post("/train/sweep", body)).json<{ job_id: string }>();
    await service.ended(jobId);

    const page = await openPage(`${service.url}/#/jobs/${jobId}`);
    const card = page.getByRole("region", { name: "Trials" }).first();
    await card
      .getByText("Trial 2 is the adapter. Its proof is measured on the held-out text that chose it, and is optimistic")
      .waitFor();
    await card.getByRole("img", { name: /^Held-out loss: 3 points, Trial 1 from 2\.72 to 2\.6\d; Trial 2 from/ }).waitFor();
    expect(await card.getByRole("row").count()).toBe(5);
    expect(await card.getByRole("row", { name: /^2, chosen/ }).textContent()).toContain("trained to its end");
    await expectNoFaults(page);
  },
  TEST_MS,
);

test(
  "a sweep is started from the form, which says how many trials it has, and what is wrong at the field where it is",
  async () => {
    const service = await startService();
    for (const id of ["s1", "s2"]) putSession(service.dataDir, id);
    const page = await openPage(`${service.url}/#/train?session=s1`);
    await page.getByRole("radio", { name: /^Sweep/ }).check();
    await page.getByRole("checkbox", { name: /\bs2\b/ }).check();
    const says = (text: string) => page.getByRole("status").getByText(text).waitFor();
    const start = page.getByRole("button", { name: "Start sweep" });
    await says("1 trial: write several ranks");
    await start.click();
    await page.getByText("has nothing to compare: name several values of rank").waitFor();
    await page.getByLabel("Rank").fill("4, 300");
    await page.getByLabel("Learning rate").fill("1e-4, 3e-4");
    await says("4 trials: 2 ranks × 2 learning rates; the worse half is stopped on the way.");
    await start.click();
    await page.getByText("must be <= 256").waitFor();
    expect(await page.getByLabel("Rank").getAttribute("aria-invalid")).toBe("true");
    await page.getByLabel("Rank").fill("4, 8");
    await page.getByLabel("Held out").selectOption("none");
    await start.click();
    await page.getByText("must hold something out").waitFor();
    expect(service.jobs.counts()).toMatchObject({ queued: 0, running: 0 });

    await page.getByLabel("Held out").selectOption("");
    await page.getByLabel("Early stopping").selectOption("none");
    await page.getByLabel("Trials").fill("3");
    await says("3 trials, drawn from 4 combinations: 2 ranks × 2 learning rates; all are trained to their end.");
    await page.getByLabel("Adapter id").fill("from-the-form");
    await start.click();
    await page.getByRole("region", { name: "Trials" }).first().getByText("is the adapter").waitFor();
    const [job] = service.jobs.list({ limit: 1 }).jobs;
    expect(job).toMatchObject({ kind: "sweep", request: { session_ids: ["s1", "s2"], early_stopping: "none" } });
    expect(job?.request.trials).toHaveLength(3);
    expect((await service.get("/adapters/from-the-form")).statusCode).toBe(200);
    expectNoFaults(page);
  },
  TEST_MS,
);
