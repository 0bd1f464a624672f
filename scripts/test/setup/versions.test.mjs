import { describe, expect, test } from "vitest";
import { findPython, pythonCandidates, pythonProblem } from "../../lib/setup/find-python.mjs";
import { nodeProblem } from "../../lib/setup/node-version.mjs";
import { pipSource, probePython, unfit } from "../../lib/setup/python-probe.mjs";

const good = { version: [3, 12, 4], executable: "/opt/python", implementation: "CPython", bits: 64, threads: "gil" };
const makes = { venv: true, ensurepip: true, pip: null };

test.each(["20.19.0", "20.20.2", "22.0.0", "24.1.0"])("Node %s is new enough", (version) => {
  expect(nodeProblem(version)).toBeNull();
});

test.each(["20.18.3", "18.20.0", "16.0.0"])("Node %s is refused with what to install", (version) => {
  expect(nodeProblem(version)).toContain(`Node ${version} is too old: Imprint needs Node 20.19 or newer`);
});

describe("an interpreter is unfit", () => {
  test.each([
    [{ version: [3, 10, 9] }, "3.10.9 is too old"],
    [{ version: [2, 7, 18] }, "2.7.18 is too old"],
    [{ version: [3, 15, 0] }, "newer than the locked libraries"],
    [{ implementation: "PyPy" }, "not CPython"],
    [{ bits: 32 }, "32-bit"],
    [{ threads: "free" }, "free-threaded"],
  ])("when %o", (change, reason) => {
    expect(unfit({ ...good, ...change })).toContain(reason);
  });

  test.each([11, 12, 13, 14])("but not as CPython 3.%i", (minor) => {
    expect(unfit({ ...good, version: [3, minor, 0] })).toBeNull();
  });
});

test.each([
  [{ venv: true, ensurepip: true, pip: null }, "ensurepip"],
  [{ venv: true, ensurepip: false, pip: "23.0.1" }, "host"],
  [{ venv: true, ensurepip: false, pip: "22.3" }, "host"],
  [{ venv: true, ensurepip: false, pip: "22.2.2" }, null],
  [{ venv: true, ensurepip: false, pip: null }, null],
  [{ venv: false, ensurepip: true, pip: "23.0.1" }, null],
])("pip for %o comes from %s", (python, source) => {
  expect(pipSource(python)).toBe(source);
});

const finding = (pythons, env = {}) =>
  findPython({ env, platform: "linux", probe: async ([program]) => pythons[program] ?? null });

test("an interpreter that brings pip is taken before one that borrows it, whatever the order", async () => {
  const borrowing = { ...good, ...makes, ensurepip: false, pip: "24.0" };
  const found = await finding({ "python3.13": borrowing, python3: { ...good, ...makes } });
  expect(found).toMatchObject({ command: ["python3"], pipFrom: "ensurepip" });
  expect(await finding({ "python3.13": borrowing })).toMatchObject({ command: ["python3.13"], pipFrom: "host" });
});

test("IMPRINT_SETUP_PYTHON names the only interpreter that is tried", async () => {
  const pythons = { python3: { ...good, ...makes }, mine: { ...good, ...makes, version: [3, 9, 0] } };
  await expect(finding(pythons, { IMPRINT_SETUP_PYTHON: "mine" })).rejects.toThrow(
    "mine: 3.9.0 is too old). IMPRINT_SETUP_PYTHON names mine.",
  );
});

test("Windows asks its launcher first", () => {
  expect(pythonCandidates({ env: {}, platform: "win32" })[0]).toEqual(["py", "-3"]);
});

test("no Python, an old one, and one that cannot make environments are three sentences", () => {
  expect(pythonProblem({ seen: [], env: {}, debian: true })).toContain("sudo apt-get install python3 python3-venv");
  const old = { ...good, version: [3, 9, 2], command: ["python3"], unfit: "3.9.2 is too old" };
  expect(pythonProblem({ seen: [old], env: {}, debian: false })).toMatch(
    /needs 64-bit CPython 3\.11 to 3\.14 \(python3: 3\.9\.2 is too old\)/,
  );
  const bare = { ...good, version: [3, 11, 2], command: ["python3"], unfit: null };
  expect(pythonProblem({ seen: [bare], env: {}, debian: true })).toMatch(
    /ensurepip module is missing. Install it: sudo apt-get install python3\.11-venv$/,
  );
});

test("a program that is not there is no Python", async () => {
  expect(await probePython(["imprint-no-such-python"], { env: process.env })).toBeNull();
});
