import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../lib/setup/main.mjs";

const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: ROOT, encoding: "utf8" })
  .split("\0")
  .filter((file) => file !== "" && statSync(path.join(ROOT, file), { throwIfNoEntry: false })?.isFile());
const recorded = (file) => /^(examples|models|bench\/results)\/|\/fixtures\/|\.lock$/.test(file) || file === "package-lock.json";
const source = (file) => /\.(ts|tsx|mts|mjs|js|py)$/.test(file) && !recorded(file);
const read = (file) => readFileSync(path.join(ROOT, file), "utf8");

/** Every place, as file:line, where a pattern stands in the files. */
const places = (files, pattern) =>
  files.flatMap((file) =>
    read(file)
      .split("\n")
      .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}: ${line.trim().slice(0, 100)}`] : [])),
  );

// Written so that this file does not hold what it looks for.
const any = (...parts) => new RegExp(parts.map((words) => words.join("")).join("|"));
const REGISTRIES = any(
  ["registry\\.", "npmjs"],
  ["registry\\.", "yarnpkg"],
  ["pypi", "\\.org"],
  ["files\\.python", "hosted"],
  ["download\\.", "pytorch"],
);
const MACHINE = any(["/wo", "rk/(main|shared|\\.)"], ["/tmp/", "py/"], ["(^|[\"'\\s=:(])/ro", "ot/"]);
const SHELL = any(["shell:", " true"], ["shell", "=True"]);
const UNFINISHED = any(["\\bTO", "DO\\b"], ["\\bFIX", "ME\\b"], ["\\bX", "XX\\b"]);
const SKIPPED = any(
  ["\\b(it|test|describe)\\.(sk", "ip(If)?|run", "If|on", "ly|to", "do)\\b"],
  ["pytest\\.(mark\\.)?(sk", "ip|x", "fail|import", "orskip)"],
  ["unittest\\.sk", "ip"],
);

test("no tracked text names a package registry's host", () => {
  expect(
    places(
      tracked.filter((file) => !recorded(file) || /lock/.test(file)),
      REGISTRIES,
    ),
  ).toEqual([]);
});

test("no source or document names a path of one machine", () => {
  expect(
    places(
      tracked.filter((file) => source(file) || file.endsWith(".md")),
      MACHINE,
    ),
  ).toEqual([]);
});

test("no program is started through a shell", () => {
  expect(places(tracked.filter(source), SHELL)).toEqual([]);
});

test("no hand-written file is longer than 350 lines", () => {
  const long = tracked.filter(source).flatMap((file) => {
    const lines = read(file).split("\n").length - 1;
    return lines > 350 ? [`${file}: ${lines}`] : [];
  });
  expect(long).toEqual([]);
});

test("nothing is left to be done later", () => {
  expect(places(tracked.filter(source), UNFINISHED)).toEqual([]);
});

test("no test is skipped or runs alone", () => {
  expect(
    places(
      tracked.filter((file) => source(file) && /test/.test(file)),
      SKIPPED,
    ),
  ).toEqual([]);
});
