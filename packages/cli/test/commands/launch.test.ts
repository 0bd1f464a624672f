import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, expect, it, vi } from "vitest";
import { gone } from "../../../server/test/support/process.js";
import { build, MAIN } from "../support/build.js";
import { imprint } from "../support/imprint.js";
import { type Place, place, serve, servedPlace } from "../support/service.js";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(build, 120_000);

const MODEL = "tiny-model";

interface Machine {
  readonly env: Readonly<Record<string, string>>;
  /** What launch has not removed. */
  readonly left: () => readonly string[];
}

/** A PATH with agents that are this script, and a folder of its own for temporary files. */
async function machine({ root, env }: Place, agents: readonly string[], script: string): Promise<Machine> {
  const [bin, temporary] = [path.join(root, "bin"), path.join(root, "tmp")];
  for (const folder of [bin, temporary]) await mkdir(folder);
  await writeFile(path.join(root, "agent.mjs"), script);
  for (const agent of agents) {
    await writeFile(path.join(bin, agent), `#!/bin/sh\nexec "${process.execPath}" "${path.join(root, "agent.mjs")}" "$@"\n`);
    await chmod(path.join(bin, agent), 0o755);
  }
  return { env: { ...env, PATH: `${bin}${path.delimiter}/bin`, TMPDIR: temporary }, left: () => readdirSync(temporary) };
}

/** Tells what it was started with, files included, asks the service as aider would, and ends with code 7. */
const TELLING = `
import { existsSync, readFileSync, statSync } from "node:fs";
const args = process.argv.slice(2);
const files = args.filter((one) => existsSync(one)).map((one) => ({ text: readFileSync(one, "utf8"), mode: statSync(one).mode & 0o777 }));
const base = args[args.indexOf("--openai-api-base") + 1];
const model = args[args.indexOf("--model") + 1].replace("openai/", "");
const body = JSON.stringify({ model, messages: [{ role: "user", content: "Fix it." }] });
const { status } = await fetch(base + "/chat/completions", { method: "POST", body, headers: { "content-type": "application/json" } });
console.log(JSON.stringify({ args, files, base, status }));
process.exit(7);
`;

it("starts the agent on the service, passes its arguments and its exit code on, and removes what it wrote", async () => {
  const at = await servedPlace();
  const { env, left } = await machine(at, ["aider"], TELLING);
  const { code, stdout, stderr } = await imprint(["launch", "aider", MODEL, "--", "--message", "Go."], { env });
  expect([code, stderr]).toEqual([7, ""]);
  const { args, files, base, status } = JSON.parse(stdout);
  expect(args.slice(-2)).toEqual(["--message", "Go."]);
  expect([base, status]).toEqual([`${at.server.url}/v1`, 200]);
  expect(files).toHaveLength(2);
  for (const { mode } of files) expect(mode).toBe(0o600);
  expect(left()).toEqual([]);
  expect(JSON.parse((await imprint(["sessions", "--json"], { env })).stdout).sessions).toEqual([]);
});

/** Leaves a process running that outlives it, as Cline's terminal does, and says which. */
const LEAVING = `
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
const left = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "ignore" });
writeFileSync(process.env.CLINE_HUB_DISCOVERY_PATH, JSON.stringify({ pid: left.pid }));
console.log(left.pid);
left.unref();
`;

it("ends the hub that Cline's terminal leaves running", async () => {
  const { env, left } = await machine(await servedPlace(), ["cline"], LEAVING);
  const { code, stdout } = await imprint(["launch", "cline", MODEL], { env });
  expect([code, left()]).toEqual([0, []]);
  await gone(Number(stdout));
});

it("--record keeps the conversation as a session of that agent", async () => {
  const at = await servedPlace();
  const { env } = await machine(at, ["aider"], TELLING);
  expect((await imprint(["launch", "aider", MODEL, "--record"], { env })).code).toBe(7);
  await vi.waitFor(async () => {
    const { sessions } = JSON.parse((await imprint(["sessions", "--json"], { env })).stdout);
    expect(sessions).toMatchObject([{ format: "gateway", task: "Fix it." }]);
  }, 20_000);
});

it("takes an adapter by the beginning of its id", async () => {
  const at = await servedPlace();
  await imprint(["import", path.join("examples", "sessions", "harborline-gates.json")], { env: at.env });
  await imprint(["train", "harborline-gates", "--adapter-id", "gates-v1", "--watch"], { env: at.env });
  const { stdout } = await imprint(["launch", "mini", "gates", "--print", "--json"], { env: at.env });
  expect(JSON.parse(stdout)).toMatchObject({ program: "mini", args: ["-m", "openai/gates-v1"] });
});

it.each(["opencode", "codex", "claude", "aider", "mini", "pi", "continue", "cline"])(
  "--print shows what %s would be started with, and starts nothing",
  async (agent) => {
    const at = await servedPlace();
    const { stdout, code } = await imprint(["launch", agent, MODEL, "--print", "--record", "--", "--own"], { env: at.env });
    expect(code).toBe(0);
    expect(stdout).toContain(`${at.server.url}/record/`);
    expect(stdout.trimEnd()).toMatch(/ --own$/);
  },
);

it("--print keeps the service's token to itself", async () => {
  const at = await place();
  const env = { ...at.env, IMPRINT_TOKEN: "a-token-of-some-length" };
  await serve({ ...at, env });
  const { stdout, code } = await imprint(["launch", "codex", MODEL, "--print"], { env });
  expect(code).toBe(0);
  expect(stdout).not.toContain("a-token-of-some-length");
});

it.each([
  ["emacs", MODEL, /<agent> is one of opencode, codex, .*, not "emacs"/],
  ["toString", MODEL, /<agent> is one of/],
  ["codex", "nobody", /there is no adapter or base model "nobody": .*adapters/],
  ["codex", MODEL, /codex is not installed, or not on the PATH: npm install -g @openai\/codex/],
  ["codex", `${MODEL} --json`, /--json goes with --print/],
])("launch %s %s is refused with exit code 2 and what to do", async (agent, rest, said) => {
  const at = await servedPlace();
  const { env, left } = await machine(at, [], "");
  const { code, stderr } = await imprint(["launch", agent, ...rest.split(" ")], { env });
  expect(stderr).toMatch(said);
  expect(code).toBe(2);
  expect(left()).toEqual([]);
});

it("says what starts the service where none runs, and what is no address", async () => {
  const { env } = await place();
  const { code, stderr } = await imprint(["launch", "codex", MODEL], { env });
  expect([code, stderr]).toEqual([2, expect.stringMatching(/no service runs on .*: .* serve starts one/)]);
  const nowhere = await imprint(["launch", "codex", MODEL, "--url", "nowhere"], { env });
  expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining("--url nowhere is no address")]);
  const silent = await imprint(["launch", "codex", MODEL, "--url", "http://127.0.0.1:1"], { env });
  expect([silent.code, silent.stderr]).toEqual([2, expect.stringContaining("no service answers at http://127.0.0.1:1")]);
});

/** Lives through two of the signal, tells each, and ends by its own choice. */
const living = (signal: string): string => `
let seen = 0;
process.on("${signal}", () => {
  console.log("heard");
  if (++seen === 2) process.exit(9);
});
setInterval(() => undefined, 1000);
console.log("ready");
`;

it.each([
  ["SIGINT", true],
  ["SIGTERM", false],
] as const)("%s is the agent's to answer", async (signal, isOfTerminal) => {
  const at = await servedPlace();
  const { env, left } = await machine(at, ["aider"], living(signal));
  // A terminal's Ctrl-C reaches the whole group; other signals the process that was meant.
  const child = spawn(process.execPath, [MAIN, "launch", "aider", MODEL], { env, detached: true });
  const send = (): void => void process.kill(isOfTerminal ? -Number(child.pid) : Number(child.pid), signal);
  // At "ready" and at the first "heard": after the second the agent ends, and what it ran under with it.
  child.stdout.once("data", () => {
    send();
    child.stdout.once("data", send);
  });
  child.stdout.resume();
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect(code).toBe(9);
  expect(left()).toEqual([]);
});
