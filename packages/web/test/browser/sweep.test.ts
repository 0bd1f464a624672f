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
    await card.getByRole("img", { name: /^Held-out loss: 3 points, Trial 1 from 2.55 to 2.38; Trial 2 from/ }).waitFor();
    expect(await card.getByRole("row").count()).toBe(5);
    expect(await card.getByRole("row", { name: /^2, chosen/ }).textContent()).toContain("trained to its end");
    await expectNoFaults(page);
  },
  TEST_MS,
);
