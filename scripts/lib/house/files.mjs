import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";

const SOURCE = /\.(ts|tsx|mts|cts|js|jsx|mjs|cjs|py|css)$/;
const APART = /(^|\/)(tests?|fixtures|dist|generated)\/|^(docs|examples|models)\/|^bench\/results\/|\.lock$/;

/** Paths of the files that are there, of those that `git ls-files` lists. */
export const listedFiles = (root, flags = []) =>
  execFileSync("git", ["ls-files", "-z", ...flags], { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 })
    .split("\0")
    .filter((path) => path !== "" && existsSync(join(root, path)));

/** Those that git tracks. */
export const trackedFiles = (root) => listedFiles(root);

/** Code that ships or that the developers run; tests, fixtures, documents and results apart. */
export const isProduct = (path) => SOURCE.test(path) && !APART.test(path);

export const lineCount = (text) => {
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.length - 1 : lines.length;
};

export const read = (root, path) => readFileSync(join(root, path), "utf8");

export const bytesOf = (root, paths) => paths.reduce((sum, path) => sum + lstatSync(join(root, path)).size, 0);
