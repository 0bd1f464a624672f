import { expect, test } from "vitest";
import { createLogTails } from "../../src/jobs/log-tails.js";

const [RUNNING, ENDED] = [64 * 1024, 4 * 1024];
const lines = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at} of the log\n`).join("");

test.each([RUNNING, ENDED])("what is kept of a long log begins with a whole line, and is its end", (most) => {
  const tails = createLogTails();
  const text = lines(5_000);
  for (let at = 0; at < text.length; at += 1_000) tails.append("one", text.slice(at, at + 1_000));
  if (most === ENDED) tails.end("one");
  const kept = tails.get("one");
  expect(text.endsWith(kept)).toBe(true);
  expect(text.at(-kept.length - 1)).toBe("\n");
  expect(kept.length).toBeGreaterThan(most - 100);
  expect(kept.length).toBeLessThanOrEqual(most);
});

test("a line that is longer than what is kept loses its beginning alone", () => {
  const tails = createLogTails();
  const line = `${"x".repeat(ENDED)}end\n`;
  tails.append("one", line);
  tails.end("one");
  expect(tails.get("one")).toBe(line.slice(-ENDED));
});

test("a short log is kept as it is, and a forgotten one not at all", () => {
  const tails = createLogTails();
  tails.append("one", lines(3));
  tails.end("one");
  expect(tails.get("one")).toBe(lines(3));
  tails.forget("one");
  expect(tails.get("one")).toBe("");
});
