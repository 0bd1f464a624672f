import { expect, it } from "vitest";
import { UsageError } from "../../src/errors.js";
import { runAgent } from "../../src/launch/run-agent.js";

const node = {
  name: "node",
  program: process.execPath,
  install: "npm install it",
  settings: () => ({ args: [], env: {}, files: {} }),
};

const ran = (script: string, env = {}): Promise<number> => runAgent(node, { args: ["-e", script], env });

it("answers with the exit code of the agent", async () => {
  expect(await ran("process.exit(0)")).toBe(0);
  expect(await ran("process.exit(process.env.CODE)", { CODE: "7" })).toBe(7);
});

it("answers as shells do for an agent that a signal ended", async () => {
  expect(await ran('process.kill(process.pid, "SIGKILL")')).toBe(137);
});

it("says how to install an agent that is not there", async () => {
  const missing = runAgent({ ...node, program: "no-such-agent" }, { args: [], env: {} });
  await expect(missing).rejects.toThrow(UsageError);
  await expect(missing).rejects.toThrow("no-such-agent is not installed, or not on the PATH: npm install it");
});

it("leaves no listener behind", async () => {
  const counted = () => ["SIGINT", "SIGTERM", "SIGHUP"].map((signal) => process.listenerCount(signal));
  const before = counted();
  await ran("");
  expect(counted()).toEqual(before);
});
