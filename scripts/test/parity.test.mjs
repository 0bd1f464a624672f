import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
let folder;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "parity-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A program in Python's place: says what it was called with, and exits with a code of our choice. */
const interpreter = (exitCode) => {
  const file = join(folder, "python");
  const said = join(folder, "said.json");
  writeFileSync(
    file,
    `#!${process.execPath}
require("node:fs").writeFileSync(${JSON.stringify(said)}, JSON.stringify([process.argv.slice(2), process.env.PYTHONPATH]));
process.exit(${exitCode});
`,
  );
  chmodSync(file, 0o755);
  return { file, said: () => JSON.parse(readFileSync(said, "utf8")) };
};

const parity = (args, python) =>
  spawnSync(process.execPath, [join(root, "scripts", "parity.mjs"), ...args], {
    encoding: "utf8",
    cwd: root,
    env: { ...process.env, INIT_CWD: folder, IMPRINT_PYTHON: python, PYTHONPATH: "elsewhere" },
  });

test("the runner gets the folder as seen from where the user stands, and the trainer's sources", () => {
  const python = interpreter(0);
  expect(parity(["cases"], python.file).status).toBe(0);
  const [args, path] = python.said();
  expect(args).toEqual(["-m", "d2l.parity", join(folder, "cases")]);
  expect(path.startsWith(join(root, "trainer", "src"))).toBe(true);
  expect(path.endsWith("elsewhere")).toBe(true);
});

test("a failed case is exit code 1", () => {
  expect(parity(["cases"], interpreter(1).file).status).toBe(1);
});

test("a missing folder or an interpreter that does not start is a sentence and exit code 2", () => {
  const none = parity([], interpreter(0).file);
  expect(none.status).toBe(2);
  expect(none.stderr).toContain("usage: npm run parity -- DIR");
  const gone = parity(["cases"], join(folder, "gone"));
  expect(gone.status).toBe(2);
  expect(gone.stderr).toContain("Python could not be started");
});
