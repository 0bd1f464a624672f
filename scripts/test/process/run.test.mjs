import { expect, test } from "vitest";
import { run } from "../../lib/process/run.mjs";
import { together } from "../../lib/setup/together.mjs";

const node = (script, options) => run(process.execPath, ["-e", script], { name: "program", ...options });
const FOREVER = "setInterval(() => {}, 1000)";

/** Whether a process still runs: a dead child that nobody has reaped yet does not. */
const runs = async (pid) => {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const { stdout } = await run("ps", ["-o", "stat=", "-p", String(pid)]).catch(() => ({ stdout: "" }));
  return stdout !== "" && !stdout.startsWith("Z");
};

test("standard output is the result; every line of both streams is seen", async () => {
  const lines = [];
  const { stdout } = await node('console.log("out"); console.error("err")', { onLine: (line) => lines.push(line) });
  expect(stdout).toBe("out");
  expect(lines.sort()).toEqual(["err", "out"]);
});

test("a program that fails keeps its code and what it said", async () => {
  await expect(node('console.error("why"); process.exit(3)')).rejects.toMatchObject({
    code: 3,
    output: "why",
    stdout: "",
    message: "program exited with code 3",
  });
});

test("a program that is not there is a failure, not a crash", async () => {
  await expect(run("imprint-no-such-program", [])).rejects.toMatchObject({ name: "CommandFailure", code: "ENOENT" });
});

test("the time limit ends a program that ignores TERM", async () => {
  const deaf = `process.on("SIGTERM", () => {}); ${FOREVER}`;
  await expect(node(deaf, { timeoutMs: 300 })).rejects.toMatchObject({ timedOutMs: 300 });
});

test("an interruption ends the program and all that it started", async () => {
  const interrupt = new AbortController();
  const parent = `const c = require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(FOREVER)}]); console.log(c.pid); ${FOREVER}`;
  let grandchild;
  const running = node(parent, {
    signal: interrupt.signal,
    onLine: (line) => {
      grandchild = Number(line);
      interrupt.abort();
    },
  });
  await expect(running).rejects.toThrow("interrupted");
  expect(await runs(grandchild)).toBe(false);
});

test("the first part to fail stops the other, and its error is the one that is told", async () => {
  let stopped;
  const works = [
    async () => Promise.reject(new Error("the cause")),
    async (signal) => {
      await node(FOREVER, { signal }).catch((error) => {
        stopped = error.name;
        throw error;
      });
    },
  ];
  await expect(together(undefined, works)).rejects.toThrow("the cause");
  expect(stopped).toBe("Interrupted");
});
