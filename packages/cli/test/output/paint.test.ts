import { expect, it } from "vitest";
import { createPaint } from "../../src/output/paint.js";

const terminal = { isTTY: true };
const pipe = { isTTY: false };
const RED = "\u001b[31mx\u001b[39m";

it.each([
  ["a terminal", terminal, {}, RED],
  ["a pipe", pipe, {}, "x"],
  ["NO_COLOR on a terminal", terminal, { NO_COLOR: "1" }, "x"],
  ["an empty NO_COLOR, which counts as none", terminal, { NO_COLOR: "" }, RED],
  ["FORCE_COLOR in a pipe", pipe, { FORCE_COLOR: "1" }, RED],
  ["FORCE_COLOR=0 in a pipe", pipe, { FORCE_COLOR: "0" }, "x"],
  ["both: NO_COLOR wins", terminal, { FORCE_COLOR: "1", NO_COLOR: "1" }, "x"],
  ["a dumb terminal", terminal, { TERM: "dumb" }, "x"],
])("colours with %s", (_name, stream, env, expected) => {
  expect(createPaint(stream, env)("red", "x")).toBe(expected);
});
