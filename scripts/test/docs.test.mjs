import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../lib/setup/main.mjs";

const documents = execFileSync("git", ["ls-files", "-z", "*.md"], { cwd: ROOT, encoding: "utf8" })
  .split("\0")
  .filter((file) => file !== "" && !/fixtures|^models\//.test(file) && existsSync(path.join(ROOT, file)));
const read = (file) => readFileSync(path.join(ROOT, file), "utf8");

test("every link between the documents leads to a file", () => {
  const broken = documents.flatMap((file) =>
    [...read(file).matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)]
      .filter(([, target]) => !existsSync(path.join(ROOT, path.dirname(file), target)))
      .map(([, target]) => `${file}: ${target}`),
  );
  expect(broken).toEqual([]);
});

test("every npm command that a document names exists", () => {
  const { scripts } = JSON.parse(read("package.json"));
  const unknown = documents.flatMap((file) =>
    [...read(file).matchAll(/npm run ([a-z][a-z-]*)/g)]
      .filter(([, name]) => !(name in scripts))
      .map(([, name]) => `${file}: ${name}`),
  );
  expect(unknown).toEqual([]);
});

test("the page for coding agents stays under 80 lines", () => {
  expect(read("AGENTS.md").split("\n").length).toBeLessThan(80);
});

test("every decision has a number of its own, which its title says", () => {
  const decisions = documents.filter((file) => file.startsWith("docs/adr/"));
  const numbers = decisions.map((file) => Number(path.basename(file).slice(0, 4)));
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(decisions.map((file) => read(file).match(/^# (\d+)\. /)?.[1])).toEqual(numbers.map(String));
});
