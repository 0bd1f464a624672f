import { expect, test } from "vitest";
import { makeFolder, startService } from "../support/service.js";
import { projectOf, putDays, run, startRun } from "./support.js";

test("the latest moves on no evidence, and stays where it was when the new adapter harms", async () => {
  const dataDir = makeFolder();
  const doubtful = await startService({ dataDir, behaviour: { evaluate: { evaluation: { verdict: "no_evidence" } } } });
  putDays(doubtful, ["one", "two"]);
  expect(await run(doubtful, "shop", { session_ids: ["one", "two"] })).toMatchObject({ verdict: "no_evidence", moved: true });
  await doubtful.close(0);

  const harmful = await startService({ dataDir, behaviour: { evaluate: { evaluation: { verdict: "harms" } } } });
  putDays(harmful, ["three"], 3);
  expect(await run(harmful, "shop", { session_ids: ["three"] })).toMatchObject({
    status: "completed",
    verdict: "harms",
    moved: false,
  });
  expect((await projectOf(harmful, "shop")).latest?.adapter_id).toBe("shop-1");
  expect((await startRun(harmful, "shop", {})).run).toBeNull();
  await harmful.close(0);

  const helpful = await startService({ dataDir });
  putDays(helpful, ["four"], 4);
  // What only the harmful adapter has learned is new to the next.
  expect(await run(helpful, "shop", { session_ids: ["four"] })).toMatchObject({
    adapter_id: "shop-3",
    sessions: { new: 1, replayed: 1, held_out: ["three", "four"] },
  });
});

test.each([
  [-0.1, true],
  [0.1, false],
])("of too little to tell, a change of the loss by %d moves the latest: %s", async (change, moved) => {
  const row = { adapter_id: null, tokens: 900, loss: 1, top1: 0.5, change: null, interval: null, kinds: [], sessions: [] };
  const rows = [
    { ...row, row: "base" },
    { ...row, row: "adapter", adapter_id: "shop-1", loss: 1 + change, change },
  ];
  const verdict = "too_little_to_tell";
  const service = await startService({ behaviour: { evaluate: { evaluation: { verdict, rows } } } });
  putDays(service, ["one", "two"]);
  expect(await run(service, "shop", { session_ids: ["one", "two"] })).toMatchObject({ status: "completed", verdict, moved });
});
