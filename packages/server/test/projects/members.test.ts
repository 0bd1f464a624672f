import { expect, test, vi } from "vitest";
import { startService } from "../support/service.js";
import { makeSession, putSession } from "../support/session.js";
import { putDays, run, sessionOf, startRun } from "./support.js";

// A run is a training and an evaluation, by real processes.
vi.setConfig({ testTimeout: 60_000 });

test("what an adapter said itself is neither trained nor tested on, however it came in", async () => {
  const service = await startService();
  putDays(service, ["one", "two"]);
  for (const [at, id] of ["said", "said-later"].entries()) {
    const source = { ...makeSession(id).source, format: "codex" as const, provider: "imprint", model: "shop-1" };
    putSession(service.dataDir, id, sessionOf(id, 3 + at, { source }));
  }
  const first = await run(service, "shop", { session_ids: ["one", "two", "said", "said-later"] });
  expect(first.sessions).toEqual({ new: 1, replayed: 0, held_out: ["two"] });
  expect(service.jobs.get(first.train_job_id ?? "")?.request).toMatchObject({ session_ids: ["one"] });
  expect((await startRun(service, "shop", {})).sentence).toContain("every session was trained or tested on already");
});
