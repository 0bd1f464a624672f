import type { Step } from "@imprint/contracts";
import { describe, expect, it } from "vitest";
import { COMMITTED, call, DONE, edited, FAILED, judged, kindsOf, ran, says, shown, TASK, TESTED } from "./made.js";

describe("tests", () => {
  it.each([
    ["pytest", "==== 3 passed, 1 warning in 0.20s ====", "tests_passed"],
    ["python -m pytest -q", "3 passed in 0.20s", "tests_passed"],
    ["pytest | tail -3", "==== 1 failed, 3 passed in 0.20s ====", "tests_failed"],
    ["npx vitest run", " Test Files  1 passed (1)\n      Tests  12 passed (12)", "tests_passed"],
    ["npx vitest run", "[2m      Tests [22m [31m2 failed[39m | [32m10 passed[39m (12)", "tests_failed"],
    ["npm test", "Tests:       1 failed, 20 passed, 21 total", "tests_failed"],
    ["go test ./...", "ok  \tshop/cart\t0.012s", "tests_passed"],
    ["go test ./...", "--- FAIL: TestRound (0.00s)\nFAIL\tshop/cart\t0.01s", "tests_failed"],
    ["cargo test", "test result: ok. 12 passed; 0 failed; 0 ignored", "tests_passed"],
    ["cargo test", "test result: FAILED. 11 passed; 1 failed", "tests_failed"],
    ["python -m unittest", "Ran 3 tests in 0.001s\n\nOK", "tests_passed"],
    ["python -m unittest", "Ran 3 tests in 0.001s\n\nFAILED (failures=1)", "tests_failed"],
    ["bun test src/", " 1329 pass\n 0 fail\nRan 1329 tests", "tests_passed"],
    ["node --test", "# tests 6\n# pass 6\n# fail 0", "tests_passed"],
    ["make test", "Exit code 2\nmake: *** [test] Error 2", "tests_failed"],
    ["make test", "Process exited with code 0\nOutput:", "tests_passed"],
    ["mise run test", "Process exited with code 0\nOutput:", "tests_passed"],
  ])("%s that ends with %j", (command, output, kind) => {
    expect(kindsOf([TASK, ran(command, output)])).toContain(kind);
  });

  it("count as they ended last", () => {
    expect(kindsOf([TASK, FAILED, TESTED])).toContain("tests_passed");
    expect(kindsOf([TASK, TESTED, FAILED])).toContain("tests_failed");
  });

  it("are no tests where a command only speaks of them", () => {
    const others = [
      "rg 'npm test' docs",
      "cat docs/task/tests.md",
      'git commit -m "make test pass"',
      "cat > notes.md <<'X'\nrun pytest\nX\ncat notes.md",
    ];
    for (const command of others)
      expect(kindsOf([TASK, ran(command, "ok", true)]).filter((kind) => kind.startsWith("tests"))).toEqual([]);
  });

  it("are read from an agent whose text is its action", () => {
    const text = "THOUGHT: test it.\n\n```bash\npytest -q\n```";
    const step: Step = { source: "agent", text, observations: [{ call_id: null, content: "<returncode>1</returncode>" }] };
    expect(shown([TASK, step])).toEqual([{ kind: "tests_failed", what: '"pytest -q": exit code not 0' }]);
  });
});

describe("commits", () => {
  it("are told with hash and subject", () => {
    expect(shown([TASK, COMMITTED, DONE])).toEqual([
      { kind: "replied", what: "an answer at the end" },
      { kind: "commit", what: '1a2b3c4 "Round prices"', commit: "1a2b3c4" },
    ]);
  });

  it("are none where a hook refused them or nothing changed", () => {
    const refused = ran("git commit -m x", "Exit code 1\nhusky - pre-commit failed", true);
    expect(kindsOf([TASK, refused, DONE])).not.toContain("commit");
    expect(kindsOf([TASK, ran("git commit -m x", "nothing to commit, working tree clean"), DONE])).not.toContain("commit");
  });

  it("are taken back by a revert and by a reset behind them, not by a reset of other files", () => {
    expect(kindsOf([TASK, COMMITTED, ran("git revert --no-edit HEAD", "[main 9f8e7d6] Revert"), DONE])).toEqual([
      "replied",
      "reverted",
    ]);
    expect(kindsOf([TASK, COMMITTED, ran("git reset --hard HEAD~1", "HEAD is now at 0000000"), DONE])).toEqual([
      "replied",
      "reverted",
    ]);
    expect(kindsOf([TASK, COMMITTED, ran("git reset -- notes.md", ""), DONE])).toEqual(["replied", "commit"]);
  });
});

describe("the person's last words", () => {
  it.each(["thanks!", "Perfect.", "ok great, thank you", "works now", "LGTM", "yes it works"])("%j is thanks", (text) => {
    expect(judged([TASK, edited(), DONE, says("user", text)])).toBe("success");
  });

  it.each([
    ...["No, that's wrong.", "revert that", "still fails with the same error", "it doesn't work", "you broke the build", "undo"],
    ...["ok the e2e tests are still failing", "$ make test\n\n1 failed\n\nNo, that's wrong."],
  ])("%j without an answer is a complaint that outweighs tests and commits", (text) => {
    expect(judged([TASK, edited(), TESTED, COMMITTED, DONE, says("user", text)])).toBe("failure");
  });

  it("a complaint that is followed by work leaves the rest to decide", () => {
    const mended = [TASK, edited(), DONE, says("user", "No, that's wrong."), edited(), TESTED, COMMITTED, DONE];
    expect(kindsOf(mended)).toContain("complaint_answered");
    expect(judged(mended)).toBe("success");
  });

  it.each(["no problem, go on", "Great, now add a test", "thanks, but can you round up?", "not yet: first the tests"])(
    "%j says neither",
    (text) => {
      expect(kindsOf([TASK, says("user", text)])).toEqual([]);
    },
  );

  it("are not the request itself", () => {
    expect(kindsOf([says("user", "Revert that last commit.")])).toEqual([]);
  });
});

describe("the end", () => {
  it("edits and an answer speak for success, an answer alone for little, a call that failed last against it", () => {
    expect(judged([TASK, ran("ls", "cart.py"), DONE])).toBe("unknown");
    expect(judged([TASK, edited(), DONE])).toBe("success");
    expect(judged([TASK, edited(), ran("git push", "Exit code 1", true), DONE])).toBe("unknown");
  });

  it("a recording that ends without an answer is not judged, whatever went before", () => {
    expect(judged([TASK, edited(), TESTED, COMMITTED, ran("git push", null)])).toBe("unknown");
    expect(judged([TASK, edited(), FAILED])).toBe("unknown");
    const planned = call("ExitPlanMode", { plan: "1. Round." }, "The user doesn't want to proceed with this tool use.", true);
    expect(judged([TASK, planned])).toBe("unknown");
  });

  it("a turn that the person broke off, or a call that was refused, speaks against it", () => {
    expect(judged([TASK, edited(), DONE], "turn_aborted")).toBe("failure");
    const refused = call("Write", { file_path: "/srv/x" }, "The user doesn't want to proceed with this tool use.", true);
    expect(judged([TASK, edited(), refused])).toBe("failure");
  });

  it("a run's own tests alone decide nothing: of 106 that passed theirs, 85 passed the hidden ones", () => {
    const action = (command: string, output: string): Step => ({
      ...says("agent", `\`\`\`bash\n${command}\n\`\`\``),
      observations: [{ call_id: null, content: output }],
    });
    const handedIn = action("echo SUBMIT && git add -A", "diff --git");
    expect(judged([TASK, action("pytest", "=== 3 passed in 0.2s ==="), handedIn], "Submitted")).toBe("unknown");
    expect(judged([TASK, action("pytest", "=== 1 failed in 0.2s ==="), handedIn], "Submitted")).toBe("unknown");
  });
});
