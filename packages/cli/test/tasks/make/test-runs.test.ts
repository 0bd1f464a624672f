import { saidResult } from "@imprint/sessions";
import { describe, expect, test } from "vitest";
import { actionsOf } from "../../../src/tasks/make/actions.js";
import { commandsRun } from "../../../src/tasks/make/shell-calls.js";
import { checkOf, checksIn, testRuns } from "../../../src/tasks/make/test-runs.js";
import { type Agent, recorded } from "./support/recordings.js";
import { story } from "./support/repository.js";

test.each([
  ["===== 3 passed, 1 warning in 0.12s =====", true],
  ["===== 1 failed, 3 passed in 0.12s =====", false],
  ["4 passed in 0.01s", true],
  ["===== no tests ran in 0.01s =====", false],
  ["Ran 3 tests in 0.001s\n\nOK (skipped=1)", true],
  ["Ran 3 tests in 0.001s\n\nFAILED (failures=1)", false],
  [" Test Files  1 passed (1)\n      Tests  7 passed (7)", true],
  ["\u001b[31m      Tests  1 failed | 6 passed (7)\u001b[0m", false],
  ["Tests:       2 failed, 1 passed, 3 total", false],
  ["  12 passing (30ms)", true],
  ["  11 passing (30ms)\n  1 failing", false],
  ["# tests 3\n# pass 3\n# fail 0", true],
  ["ℹ fail 2", false],
  ["ok  \tgithub.com/a/b\t0.003s\nok  \tgithub.com/a/c\t(cached)", true],
  ["--- FAIL: TestA (0.00s)\nFAIL\tgithub.com/a/b\t0.003s", false],
  ["test result: ok. 4 passed; 0 failed", true],
  ["test result: FAILED. 3 passed; 1 failed", false],
  ["1..2\nok 1 a\nok 2 b", true],
  ["1..2\nok 1 a\nnot ok 2 b", false],
  ["all is well", null],
  ["", null],
])("a runner's words %j say %j", (output, passed) => {
  expect(saidResult(output)?.passed ?? null).toBe(passed);
});

async function checks(agent: Agent, ...ran: readonly (readonly [command: string, output: string, code: number])[]) {
  const acts = ran.map(([runs, output, code]) => ({ runs, output, code }));
  const session = await recorded(agent, story([{ asks: "Mend it please" }, ...acts], "/work/app"));
  const ranThere = commandsRun(actionsOf(session), { folder: "/work/app", stays: agent === "claude-code" });
  const { checks: found, why } = checksIn(testRuns(ranThere, "/work/app"));
  return why ?? found.map(checkOf);
}

describe("the checks of a session", () => {
  test("the last that passed after the same or a wider one failed comes first", async () => {
    const failed = ["pytest tests", "1 failed in 0.1s", 1] as const;
    const found = await checks("codex", failed, ["pytest tests/test_a.py", "1 passed in 0.1s", 0], ["npm test", "ok", 0]);
    expect(found).toEqual(["python3 -m pytest tests/test_a.py", "npm test"]);
  });

  test("one that failed again is none", async () => {
    const passed = ["go test ./...", "ok  \ta\t0.1s", 0] as const;
    expect(await checks("codex", passed, ["go test ./...", "FAIL", 1])).toBe("its tests failed at the end");
  });

  test("an exit code of a pipe is not the tests': their words count", async () => {
    expect(await checks("codex", ["pytest | tail -1", "1 failed in 0.1s", 0])).toBe("its tests failed at the end");
    expect(await checks("codex", ["./run_tests.sh | tail -1", "all is well", 0])).toBe(
      "the recording does not say how its tests ended",
    );
    expect(await checks("opencode", ["npm test", "# fail 0", 0])).toEqual(["npm test"]);
  });

  test("it runs from the repository's top, where the agent's shell was", async () => {
    const passed = ["pytest -q /work/app/api/tests", "2 passed in 0.1s", 0] as const;
    expect(await checks("claude-code", ["cd api && ls", "", 0], passed)).toEqual(["cd api && python3 -m pytest -q ../api/tests"]);
    expect(await checks("codex", ["cd api && ls", "", 0], passed)).toEqual(["python3 -m pytest -q api/tests"]);
    expect(await checks("codex", ["cd /tmp && npm test", "# fail 0", 0])).toBe("the agent ran no test command");
  });
});
