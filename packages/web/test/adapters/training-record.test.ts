import { expect, test } from "vitest";
import { readRecord } from "../../src/adapters/training-record.js";

test("losses and held-out sessions are read from a training's record", () => {
  const sessions = [{ session_id: "s1" }, { session_id: "s9" }];
  const record = {
    sessions,
    losses: [2, 1],
    held_out_losses: [3, 2.5],
    plan: { held_out: { sessions: ["s9"], whole: true, windows: 1 } },
    seed: 7,
  };
  expect(readRecord(record)).toEqual({ losses: [2, 1], heldOutLosses: [3, 2.5], heldOut: ["s9"] });
});

test("a session of which only the last part was held out was trained on", () => {
  const sessions = [{ session_id: "s1" }, { session_id: "s9" }];
  const record = { sessions, plan: { held_out: { sessions: ["s9"], whole: false } } };
  expect(readRecord(record).heldOut).toEqual([]);
});

test.each([null, [], "text", {}, { losses: [] }, { losses: ["2"], plan: null }, { plan: { held_out: null } }])(
  "%j says nothing of either",
  (record) => expect(readRecord(record)).toEqual({ losses: null, heldOutLosses: [], heldOut: [] }),
);
