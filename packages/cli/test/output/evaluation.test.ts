import { readFileSync } from "node:fs";
import type { Evaluation } from "@imprint/contracts";
import { expect, it } from "vitest";
import { evaluationText } from "../../src/output/evaluation.js";

const unpainted = (_style: unknown, text: string): string => text;
const recording = new URL("../../../server/test/fixtures/recordings/evaluation.ndjson", import.meta.url);
const last = JSON.parse(readFileSync(recording, "utf8").trimEnd().split("\n").at(-1) ?? "");
const recorded: Evaluation = last.result.evaluation;

/** As base 2, adapter 1.8 (95 %: 1.6 to 1.9), and one kind of token. */
const evaluation: Evaluation = {
  ...recorded,
  verdict: "helps",
  sentence: "The adapter helps.",
  sessions: [
    { session_id: "t", sha256: "", windows: 2, supervised_tokens: 1240, dropped_turns: 1, near_copy_of: null },
    { session_id: "u", sha256: "", windows: 1, supervised_tokens: 60, dropped_turns: 0, near_copy_of: "s" },
  ],
  skipped: [{ session_id: "v", code: "SESSION_INVALID", message: "The session v cannot be read." }],
  rows: [
    { loss: 2, change: null, interval: null, median: 0.31, median_of_turns: 1.9 },
    { row: "adapter" as const, adapter_id: "a", loss: 1.8, change: -0.2, interval: [-0.4, -0.1] as [number, number] },
    { row: "control" as const, adapter_id: "b", loss: 2.02, change: 0.02, interval: [-0.1, 0.2] as [number, number] },
  ].map((row) => ({
    row: "base" as const,
    adapter_id: null,
    tokens: 1300,
    top1: 0.5,
    kinds: [{ kind: "path" as const, tokens: 60, loss: row.loss - 1, top1: 0.5 }],
    sessions: [],
    ...row,
  })),
  neutral: [{ name: "prose", loss_before: 3, loss_after: 3.03 }],
  actions: {
    sampled: 10,
    base: { valid_call: 9, same_tool: 5, same_arguments: 1, same_file: 2, loop: 3 },
    adapter: { valid_call: 10, same_tool: 8, same_arguments: 4, same_file: 6, loop: 0 },
    p_values: { valid_call: 1, same_tool: 0.25, same_arguments: 0.25, same_file: 0.125, loop: 0.0002 },
  },
};

it("says the verdict first, then what every row, kind of token, neutral text and action says", () => {
  expect(evaluationText(evaluation, unpainted).split("\n")).toEqual([
    "✓ The adapter helps.",
    "",
    "on t: 1,240 tokens; 1 shared turn left out",
    "on u: 60 tokens; nearly a copy of s",
    "! The session v cannot be read.",
    "",
    "LOSS ON THE AGENT'S TOKENS         CHANGE   95 % INTERVAL    MEDIAN TOKEN  MEDIAN TURN  RIGHT",
    "base model                  2.000                            0.310         1.900        50 %",
    "with the adapter            1.800  −10.0 %  −20 % to −5.0 %                             50 %",
    "with b, the control         2.020  +1.0 %   −5.0 % to +10 %                             50 %",
    "",
    "KIND OF TOKEN  TOKENS  BASE   ADAPTER  CHANGE",
    "paths          60      1.000  0.800    −20 %",
    "",
    "NEUTRAL TEXT  BASE   ADAPTER  CHANGE",
    "prose         3.000  3.030    +1.0 %",
    "",
    "NEXT ACTIONS, OF 10     BASE  ADAPTER  P",
    "parse as a call         9     10       1.000",
    "same tool               5     8        0.250",
    "same arguments          1     4        0.250",
    "same file               2     6        0.125",
    "repeat the call before  3     0        < 0.001",
  ]);
});

it("leaves out what was not measured", () => {
  const text = evaluationText({ ...evaluation, actions: null, skipped: [] }, unpainted);
  expect(text).not.toContain("NEXT ACTIONS");
  expect(text).not.toContain("!");
});

it.each([
  ["helps", "✓"],
  ["no_evidence", "–"],
  ["harms", "✗"],
  ["too_little_to_tell", "?"],
] as const)("%s begins with %s, and nothing of the trainer's steers the terminal", (verdict, mark) => {
  const [first] = evaluationText({ ...evaluation, verdict, sentence: "So\u202e it is." }, unpainted).split("\n");
  expect(first).toBe(`${mark} So\\u202e it is.`);
});
