import { expect, test } from "vitest";
import { createReporter, elapsed } from "../../lib/setup/reporter.mjs";

const reporting = (tty) => {
  let clock = 0;
  let text = "";
  const stream = { columns: 60, write: (part) => (text += part) };
  const reporter = createReporter({ stream, tty, now: () => clock });
  return { reporter, said: () => text, wait: (ms) => (clock += ms) };
};

test("plain output says each new step, and the same one again only every 15 s", () => {
  const { reporter, said, wait } = reporting(false);
  const task = reporter.task("Python");
  task.update("fetching: 1");
  wait(5000);
  task.update("fetching: 2");
  wait(11_000);
  task.update("fetching: 3");
  task.done("ready");
  expect(said().split("\n").slice(0, -1)).toEqual([
    "Python   fetching: 1 (0.0 s)",
    "Python   fetching: 3 (16.0 s)",
    "Python   done: ready (16.0 s)",
  ]);
});

test("a terminal keeps one line for each task and never lets it wrap", () => {
  const { reporter, said } = reporting(true);
  const [one, other] = [reporter.task("Node"), reporter.task("Python")];
  one.update("x".repeat(200));
  other.done("ready");
  reporter.close();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the terminal's own control sequences
  const lines = said().split(/\x1b\[2K/);
  expect(lines.length - 1).toBe(4);
  expect(lines.every((line) => line.split("\n")[0].length < 60)).toBe(true);
  expect(said()).toContain("\x1b[2A");
});

test.each([
  [4210, "4.2 s"],
  [59_949, "59.9 s"],
  [119_700, "2 min 0 s"],
  [185_000, "3 min 5 s"],
])("%i ms are %s", (ms, text) => {
  expect(elapsed(ms)).toBe(text);
});
