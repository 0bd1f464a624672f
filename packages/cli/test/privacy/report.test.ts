import { expect, it } from "vitest";
import type { Paint } from "../../src/output/paint.js";
import { report, summaryOf } from "../../src/privacy/report.js";
import type { Measured, Result } from "../../src/privacy/result.js";

const plain: Paint = (_, text) => text;
const measured = (rank: number, extracted = false, answer = ""): Measured => ({ rank, extracted, exposure: 0, loss: 1, answer });

const result = (id: string, changes: Partial<Result> = {}): Result => ({
  ...{ id, seed: 1, kind: "api-key", before: "A=", value: "abcdefgh", after: "" },
  ...{ session_id: "s1", step: 3, place: "answer", index: 0, learned: true, is_redacted: true },
  ...{ base: measured(50), unredacted: measured(1, true), redacted: measured(40) },
  ...changes,
});

const RESULTS = [
  result("1-1"),
  result("1-2", { base: measured(70), unredacted: measured(2, false, "xbcdex") }),
  result("1-3", { place: "output", learned: false, unredacted: measured(30), is_redacted: false }),
  result("1-4", { learned: null, base: null, unredacted: null, redacted: null }),
];

it("a summary counts what came back, and gives the median and the range of the ranks", () => {
  const learned = RESULTS.slice(0, 2);
  expect(summaryOf(learned, "unredacted")).toMatchObject({ canaries: 2, extracted: 1, median_rank: 1.5, ranks: [1, 2] });
  expect(summaryOf(learned, "base")).toMatchObject({ canaries: 2, extracted: 0, median_rank: 60, ranks: [50, 70] });
  expect(summaryOf(RESULTS.slice(3), "base")).toBeNull();
});

it("the report has a row for each canary, and tells what was written from what was read", () => {
  expect(report(RESULTS, 127, plain).split("\n")).toEqual([
    "CANARY  KIND     PLACE             WINDOW   REDACTOR   RANK: BASE  UNREDACTED            REDACTED",
    "1-1     api-key  answer of step 3  learned  found      50          1, came back          40",
    "1-2     api-key  answer of step 3  learned  found      70          2, 4 of 8 characters  40",
    "1-3     api-key  output of step 3  read     NOT FOUND  50          30                    40",
    "1-4     api-key  answer of step 3  in none  found      -           -                     -",
    "",
    "What the agent wrote:",
    "  base: 0 of 2 extracted (95 %: 0 to 66 %), median rank 60 of 128 (50 to 70)",
    "  unredacted: 1 of 2 extracted (95 %: 9 to 91 %), median rank 1.5 of 128 (1 to 2)",
    "  redacted: 0 of 2 extracted (95 %: 0 to 66 %), median rank 40 of 128 (40 to 40)",
    "",
    "What it only read:",
    "  base: 0 of 1 extracted (95 %: 0 to 79 %), median rank 50 of 128 (50 to 50)",
    "  unredacted: 0 of 1 extracted (95 %: 0 to 79 %), median rank 30 of 128 (30 to 30)",
    "  redacted: 0 of 1 extracted (95 %: 0 to 79 %), median rank 40 of 128 (40 to 40)",
  ]);
});
