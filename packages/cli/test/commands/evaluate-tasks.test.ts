import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { TaskReport } from "@imprint/contracts";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint, start } from "../support/imprint.js";
import { EXAMPLES, type Place, place, servedPlace } from "../support/service.js";

vi.setConfig({ testTimeout: 120_000 });
beforeAll(build, 120_000);

const AGENT = fileURLToPath(new URL("../support/scripted-agent.mjs", import.meta.url));
const hasBubblewrap = spawnSync("bwrap", ["--version"]).status === 0;

const call = (command: string): string =>
  `<tool_call>\n${JSON.stringify({ name: "bash", arguments: { command } })}\n</tool_call>`;

const PATCH = "--- a/status.txt\n+++ b/status.txt\n@@ -1 +1 @@\n-closed\n+open\n";
const taskFile = (name: string, more: object = {}): string =>
  JSON.stringify({
    ...{ name, repository: "../gates", prompt: `Open the gate ${name}.`, check: "grep -qx open status.txt", solution: PATCH },
    ...more,
  });

/** A repository, its tasks, and an agent on the PATH. */
async function prepare({ root, env: own }: Place, tasks: Readonly<Record<string, object>>) {
  const [bin, gates, folder] = ["bin", "gates", "tasks"].map((name) => path.join(root, name)) as [string, string, string];
  for (const one of [bin, gates, folder]) await mkdir(one);
  await copyFile(AGENT, path.join(bin, "mini"));
  await chmod(path.join(bin, "mini"), 0o755);
  await writeFile(path.join(gates, "status.txt"), "closed\n");
  const write = (name: string, more: object): Promise<void> => writeFile(path.join(folder, `${name}.yaml`), taskFile(name, more));
  for (const [name, more] of Object.entries(tasks)) await write(name, more);
  const env = { ...own, PATH: [bin, path.dirname(process.execPath), process.env.PATH].join(path.delimiter) };
  const args = ["evaluate", "gates-v1", "--tasks", folder];
  return { root, env, args, write, evaluate: (...more: string[]) => imprint([...args, ...more], { env }) };
}

/** The same, with a service that has the adapter `gates-v1`, whose models say the script. */
async function withTasks(script: (root: string) => readonly string[], tasks: Readonly<Record<string, object>>) {
  const prepared = await prepare(await servedPlace((root) => ({ script: script(root), aside: "Hello." })), tasks);
  const { env } = prepared;
  await imprint(["train", path.join(EXAMPLES, "harborline-gates.json"), "--adapter-id", "gates-v1", "--watch"], { env });
  return prepared;
}

const outcomes = ({ runs }: TaskReport) => runs.map(({ task, row, outcome, detail }) => [task, row, outcome, detail]);

const OPEN = call("echo open > status.txt");
/** The base only talks, the adapter does it, and the base with a session in its prompt writes another file. */
const SCRIPT = ["I cannot see it.", OPEN, "Done.", call("echo open > other.txt"), "Done."];

describe.each([
  { name: "without a sandbox", flags: ["--no-sandbox"] },
  ...(hasBubblewrap ? [{ name: "in bubblewrap", flags: [] }] : []),
])("$name", ({ flags }) => {
  it("an agent tries a task in each row, and what it did is checked, kept, shown, and not done again", async () => {
    const { env, evaluate, write } = await withTasks(() => [...SCRIPT, ...SCRIPT], { east: {} });
    const first = await evaluate(...flags, "--json");
    expect([first.code, first.stderr]).toEqual([0, expect.stringContaining("3/3  east  session  wrong file: other.txt")]);
    const report: TaskReport = JSON.parse(first.stdout);
    expect(outcomes(report)).toEqual([
      ["east", "base", "no_call", null],
      ["east", "adapter", "solved", null],
      ["east", "session", "wrong_file", "other.txt"],
    ]);
    expect(report).toMatchObject({ verdict: "too_little_to_tell", agent: "mini-swe-agent", control_adapter_id: null });
    expect(report.runs.map(({ turns }) => turns)).toEqual([1, 2, 2]);

    const [, solved, session] = report.runs;
    const shown = JSON.parse((await imprint(["sessions", "--json"], { env })).stdout);
    const texts = (id: string | null | undefined) =>
      shown.sessions.find(({ session_id }: { session_id: string }) => session_id === id)?.task;
    expect(texts(solved?.session_id)).toBe("Open the gate east.");
    expect(texts(session?.session_id)).toMatch(/^This is how a similar task was done before:/);

    const adapter = await imprint(["adapter", "gates-v1"], { env });
    expect(adapter.stdout.indexOf("Too little to tell")).toBeLessThan(adapter.stdout.indexOf("loss on the session"));
    expect((await imprint(["adapters"], { env })).stdout).toMatch(/1 of 1/);

    // A task that is new is tried, and one that has changed is tried again; the rest stands.
    await write("west", {});
    const second = await evaluate(...flags);
    expect(second.stderr).toContain("6 runs of mini-swe-agent, of which 3 are measured already");
    expect(second.stdout).toMatch(
      /^TASK +BASE +ADAPTER +BASE, SESSION IN PROMPT\neast +no call +solved +wrong file\nwest +no call +solved +wrong file$/m,
    );
    await write("west", { prompt: "Open the west gate." });
    expect((await evaluate(...flags)).stderr).toContain("of which 3 are measured already");
  });
});

it("an agent that goes on and on is ended by its turns, the control's too, and what it did is still checked", async () => {
  const { env, evaluate } = await withTasks(() => [call("ls"), call("ls"), call("ls"), OPEN, call("ls")], {
    east: { limits: { turns: 2, seconds: 60 } },
  });
  await imprint(["train", "harborline-gates", "--adapter-id", "other", "--watch"], { env });
  const { stdout } = await evaluate("--no-sandbox", "--control", "other", "--json");
  expect(outcomes(JSON.parse(stdout))).toEqual([
    ["east", "base", "limit", "after 2 turns"],
    ["east", "adapter", "solved", null],
    ["east", "session", "limit", "after 2 turns"],
    ["east", "control", "limit", "after 2 turns"],
  ]);
});

it("Ctrl-C ends the agent, keeps what is measured, and the same command goes on", async () => {
  const waits = (root: string): string => path.join(root, "waits");
  const script = (root: string) => ["I cannot see it.", call(`touch '${waits(root)}'; sleep 600`), "Done."];
  const { root, env, args, evaluate } = await withTasks(script, { east: {} });
  const running = start([...args, "--no-sandbox"], env);
  await running.said("1/3  east  base  no call");
  await vi.waitFor(() => expect(existsSync(waits(root))).toBe(true), 30_000);
  running.child.kill("SIGINT");
  const { code, stderr } = await running.ended;
  expect([code, stderr]).toEqual([1, expect.stringContaining("Stopped. 1 of 3 runs are measured")]);
  expect(stderr).toContain("The same command goes on with the others.");
  expect((await evaluate("--no-sandbox")).stderr).toContain("of which 1 are measured already");
});

it.each([
  [["--agent", "emacs"], /--agent is one of opencode, codex, .*, not "emacs"/],
  [["--agent", "codex", "--seeds", "2"], /--seeds is 1 with codex, whose requests take no seed/],
  [["--agent", "codex"], /codex is not installed, or not on the PATH: npm install/],
  [["--seeds", "0"], /--seeds must be >= 1/],
  [["--actions", "3"], /--actions is of evaluations on sessions: leave it out with --tasks/],
  [["--tasks", "nowhere"], /nowhere/],
])("%j is refused with exit code 2 and what to do", async (flags, said) => {
  const { evaluate } = await prepare(await place(), { east: {} });
  const { code, stderr } = await evaluate("--no-sandbox", ...flags);
  expect(stderr).toMatch(said);
  expect(code).toBe(2);
});

it("options of tasks are refused where no tasks are named", async () => {
  const { code, stderr } = await imprint(["evaluate", "gates-v1", "--agent", "mini"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("--agent goes with --tasks")]);
});
