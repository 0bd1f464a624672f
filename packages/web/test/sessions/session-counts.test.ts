import { expect, test } from "vitest";
import { countBySession } from "../../src/sessions/session-counts.js";

const turn = (session_id: string, supervised: boolean) => ({
  session_id,
  turn: 1,
  supervised,
  reason: supervised ? null : "duplicate_turn",
  text: "",
});

test("turns are counted by session, learned and not learned, in the order of the sessions", () => {
  expect(countBySession([turn("b", true), turn("a", false), turn("b", true), turn("b", false)])).toEqual([
    { id: "b", learned: 2, notLearned: 1 },
    { id: "a", learned: 0, notLearned: 1 },
  ]);
  expect(countBySession([])).toEqual([]);
});
