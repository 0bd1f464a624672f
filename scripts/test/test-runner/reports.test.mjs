import { describe, expect, test } from "vitest";
import { parseArguments } from "../../lib/test/arguments.mjs";
import { readJunit, readVitest } from "../../lib/test/reports.mjs";
import { runChecks } from "../../lib/test/run-checks.mjs";
import { judgeSuite, MAY_SKIP, sum } from "../../lib/test/verdict.mjs";

test("without arguments every part runs; a named part takes its own arguments", () => {
  expect(parseArguments([])).toEqual({ parts: ["checks", "vitest", "pytest"], rest: [] });
  expect(parseArguments(["pytest", "-k", "mask"])).toEqual({ parts: ["pytest"], rest: ["-k", "mask"] });
  expect(parseArguments(["all"])).toEqual({ parts: ["checks", "vitest", "pytest", "agents"], rest: [] });
  expect(parseArguments(["agents", "--real", "pi"])).toEqual({ parts: ["agents"], rest: ["--real", "pi"] });
  expect(parseArguments(["agents", "emacs"]).problem).toContain("no agent emacs");
  expect(parseArguments(["all", "pi"]).problem).toContain("all takes no arguments");
  expect(parseArguments(["vitests"]).problem).toContain("Unknown part vitests");
  expect(parseArguments(["checks", "-x"]).problem).toContain("-x");
});

test("vitest's report: each test by its outcome, and a file that does not load as one failure", () => {
  const tests = ["passed", "passed", "failed", "pending", "todo"].map((status) => ({ status, fullName: `t ${status}` }));
  const json = JSON.stringify({
    testResults: [
      { name: "a.test.ts", status: "failed", assertionResults: tests },
      { name: "broken.test.ts", status: "failed", assertionResults: [] },
      { name: "hook.test.ts", status: "failed", assertionResults: [{ status: "passed", fullName: "fine" }] },
    ],
  });
  expect(readVitest(json)).toEqual({
    passed: 3,
    failed: ["t failed", "broken.test.ts", "hook.test.ts"],
    skipped: ["t pending", "t todo"],
  });
});

test("pytest's report: each test by its outcome, also with > in a name and text that looks like XML", () => {
  const xml = `<?xml version="1.0"?><testsuites><testsuite tests="5">
    <testcase classname="tests.test_a" name="test_one[a&gt;b]" time="0.1" />
    <testcase classname="tests.test_a" name="test_two" time="0.1"><system-out>&lt;failure</system-out></testcase>
    <testcase classname="tests.test_a" name="test_three" time="0.1"><failure message="no">x</failure></testcase>
    <testcase classname="" name="tests.test_b" time="0.0"><error message="collection failure">x</error></testcase>
    <testcase classname="tests.test_a" name="test_four"><skipped message="why">x</skipped></testcase>
  </testsuite></testsuites>`;
  expect(readJunit(xml)).toEqual({
    passed: 2,
    failed: ["tests.test_a.test_three", ".tests.test_b"],
    skipped: ["tests.test_a.test_four"],
  });
});

describe("a suite fails", () => {
  const fine = { passed: 3, failed: [], skipped: [] };
  const judged = (change) =>
    judgeSuite({
      name: "suite",
      report: { ...fine, ...change.report },
      exited: { problem: null },
      maySkip: ["listed"],
      ...change.as,
    });

  test.each([
    ["when a test failed", { report: { failed: ["one"] } }, ["suite: one"]],
    [
      "when a test was skipped that is not listed",
      { report: { skipped: ["quiet"] } },
      ["suite: skipped, which is not allowed: quiet"],
    ],
    ["when it ran nothing", { report: { passed: 0 } }, ["suite: ran no test"]],
    [
      "when it exited with a code though no test failed",
      { as: { exited: { problem: "exited 1" } } },
      ["suite: exited 1, though no test failed"],
    ],
    [
      "when it left no report",
      { as: { report: null, exited: { problem: "ended by SIGKILL" } } },
      ["suite: ended without a report (ended by SIGKILL)"],
    ],
  ])("%s", (_name, change, failures) => {
    expect(judged(change).failures).toEqual(failures);
  });

  test("and passes otherwise, with the skips that are listed", () => {
    expect(judged({ report: { skipped: ["listed"] } })).toEqual({ passed: 3, failures: [] });
    expect(MAY_SKIP).toEqual([]);
  });
});

test("the closing line sums every part", () => {
  const outcomes = [
    { passed: 5, failures: [] },
    { passed: 7, failures: ["a", "b"] },
    { passed: 0, failures: ["c"] },
  ];
  expect(sum(outcomes)).toEqual({ passed: 12, failures: ["a", "b", "c"], line: "12 passed, 3 failed" });
});

test("checks run side by side; one that fails or does not say what it must is told with its output", async () => {
  const said = [];
  const check = (name, script, more) => ({ name, command: process.execPath, args: ["-e", script], timeoutMs: 30_000, ...more });
  const outcomes = await runChecks({
    checks: [
      check("good", 'console.log("fine")', { mustSay: "fine" }),
      check("bad", 'console.log("the reason"); process.exit(1)'),
      check("mute", "", { mustSay: "fine" }),
    ],
    atOnce: 2,
    env: process.env,
    print: (line) => said.push(line),
    now: () => 0,
  });
  expect(sum(outcomes)).toMatchObject({ passed: 1, line: "1 passed, 2 failed" });
  expect(sum(outcomes).failures.toSorted()).toEqual(["bad", "mute"]);
  expect(said.toSorted()).toEqual([
    "FAILED  bad (0.0 s)\nthe reason\nbad exited with code 1",
    "FAILED  mute (0.0 s)\n",
    "ok      good (0.0 s)",
  ]);
});
