import { expect, test } from "vitest";
import { ago, short, title } from "../../src/text/numbers.js";

test("numbers are short and keep their size", () => {
  expect([0, 0.0417, 2.5, 1234.5, 0.00005, 0.0005, Number.NaN].map(short)).toEqual([
    "0",
    "0.0417",
    "2.5",
    "1,235",
    "5.0e-5",
    "0.0005",
    "–",
  ]);
  expect(title("learning_rate")).toBe("Learning rate");
});

test("how long ago is told in one unit", () => {
  const now = Date.parse("2026-01-03T00:00:00Z");
  const before = (seconds: number): string => ago(new Date(now - seconds * 1000).toISOString(), now);
  expect([-5, 59, 60, 3600, 86_400, 172_800].map(before)).toEqual([
    "just now",
    "just now",
    "1 min ago",
    "1 h ago",
    "1 day ago",
    "2 days ago",
  ]);
});
