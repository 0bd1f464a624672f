import { mkdir, realpath, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint, start } from "../support/imprint.js";
import { type Place, place, servedPlace } from "../support/service.js";

vi.setConfig({ testTimeout: 180_000 });
beforeAll(build, 120_000);

/** Recordings of a repository, long since written. */
async function record({ root }: Place, ...tasks: readonly string[]): Promise<string> {
  const folder = path.join(root, "recorded");
  await mkdir(folder, { recursive: true });
  for (const task of tasks) {
    const messages = [
      { role: "user", content: `Write ${task}.` },
      { role: "assistant", content: `Here is ${task}.` },
    ];
    const file = path.join(folder, `${task}.jsonl`);
    await writeFile(file, `${JSON.stringify({ messages })}\n`);
    await utimes(file, 0, 0);
  }
  return folder;
}

it("imports, trains, tests and moves the latest; then there is nothing new, and the latest is an adapter everywhere", async () => {
  const at = await servedPlace();
  const folder = await record(at, "add", "sub");
  const first = await imprint(["project", "math", "--from", folder, "--rank", "4"], at);
  expect(first, first.stderr).toMatchObject({ code: 0 });
  expect(first.stderr).toContain(`2 sessions in ${folder}, 2 of them new here.`);
  expect(first.stderr).toMatch(/Run 1 of math: math-1 is trained on 1 new session, and tested on \S+\.\n/);
  expect(first.stderr).toContain("math-1 is trained, and tested now.");
  expect(first.stdout).toContain("LOSS ON WHAT WAS HELD OUT");
  expect(first.stdout).toMatch(/math@latest is math-1 now\.\nTry it: .* chat math@latest\n$/);

  const again = await imprint(["project", "math", "--from", folder], at);
  expect([again.code, again.stdout]).toEqual([0, "Nothing to train for math: every session was trained or tested on already.\n"]);
  await record(at, "mul");
  const second = await imprint(["project", "math", "--from", folder, "--json"], at);
  expect(JSON.parse(second.stdout)).toMatchObject({
    run: { run: 2, adapter_id: "math-2", status: "completed", moved: true, sessions: { new: 1, replayed: 1 } },
    latest: { adapter_id: "math-2" },
  });
  const shown = await imprint(["project", "math"], at);
  expect(shown.stdout).toMatch(/^from +\S+recorded$/m);
  expect(shown.stdout).toMatch(/^2 +math-2 +helps +1 \+ 1 .* latest\n1 +math-1 +helps +1 \+ 0 .* was latest$/m);
  expect((await imprint(["projects"], at)).stdout).toMatch(/^math +math-2 +3 +2 +helps/m);
  expect((await imprint(["adapter", "math@latest", "--json"], at)).stderr).toContain("math@latest: adapter math-2");
  const chat = await imprint(["chat", "math@latest", "--prompt", "hello", "--json"], at);
  expect(JSON.parse(chat.stdout)).toMatchObject({ model: "math@latest" });
  const launched = await imprint(["launch", "aider", "math@latest", "--print"], at);
  expect([launched.code, launched.stdout]).toEqual([0, expect.stringContaining("math@latest")]);
  const out = path.join(at.root, "math.gguf");
  expect((await imprint(["export", "math@latest", "--format", "gguf", "--out", out], at)).code).toBe(0);

  const back = await imprint(["project", "math", "--rollback"], at);
  expect([back.code, back.stdout]).toEqual([0, expect.stringMatching(/^math@latest is math-1 now, of run 1\n/)]);
  expect((await imprint(["project", "math", "--rollback", "2"], at)).stdout).toMatch(/^math@latest is math-2 now/);
  expect(await imprint(["project", "math", "--rollback", "7"], at)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("run 7 is none of the project math."),
  });
});

it("what is called wrongly, or is not there, is exit code 2, in the command's words", async () => {
  const at = await servedPlace();
  const folder = await record(at, "add");
  const of = (...args: string[]) => imprint(["project", ...args], at);
  expect(await of("math", "--rollback", "--from", folder)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("stands alone"),
  });
  expect(await of("math", "--watch", "--run")).toMatchObject({ code: 2 });
  expect(await of("math", "--when", "idle")).toMatchObject({ code: 2, stderr: expect.stringContaining("add --watch") });
  expect(await of("math", "--watch", "--when", "later")).toMatchObject({ code: 2, stderr: expect.stringContaining("night") });
  expect(await of("math", "--from", path.join(at.root, "missing"))).toMatchObject({ code: 2 });
  expect(await of("math", "--from", folder, "--rank", "0")).toMatchObject({ code: 2, stderr: expect.stringContaining("--rank") });
  const unknown = await of("math");
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("project NAME --from FOLDER makes one")]);
  const waits = await of("math", "--from", folder, "--json");
  expect([waits.code, JSON.parse(waits.stdout)]).toEqual([
    0,
    { run: null, sentence: expect.stringContaining("it goes on with the next session"), latest: null },
  ]);
  expect((await imprint(["projects"], await servedPlace())).stdout).toContain("No projects.");
});

it("a run that fails is exit code 1 and says how to go on; one that harms moves nothing and is exit code 0", async () => {
  const harms = { verdict: "harms", sentence: "It harms: so it is." };
  const at = await servedPlace(() => ({ evaluate: { evaluation: harms } }));
  const folder = await record(at, "add", "sub");
  const harmful = await imprint(["project", "math", "--from", folder], at);
  expect([harmful.code, harmful.stdout]).toEqual([0, expect.stringMatching(/^✗ It harms: so it is\.\n/)]);
  expect(harmful.stdout).toContain("math@latest is no adapter yet.");
  const failing = await servedPlace(() => ({ fail: { code: "OUT_OF_MEMORY", message: "Too little memory.", hint: "h" } }));
  const failed = await imprint(["project", "math", "--from", await record(failing, "add", "sub")], failing);
  expect(failed.code).toBe(1);
  expect(failed.stdout).toContain("✗ Run 1 of math failed: Too little memory. (OUT_OF_MEMORY)");
  expect(failed.stdout).toMatch(/project math --run\n$/);
});

it("Ctrl-C without a service of its own leaves nothing behind, and --run goes on with the same run", async () => {
  let gate = "";
  const at = await place((root) => {
    gate = path.join(root, "go");
    return { wait_for: gate, checkpoint: true };
  });
  const folder = await record(at, "add", "sub");
  const running = start(["project", "math", "--from", folder], at.env);
  await running.said("step 1/3");
  running.child.kill("SIGINT");
  const stopped = await running.ended;
  expect([stopped.code, stopped.stdout]).toEqual([1, expect.stringContaining("✗ Run 1 of math was cancelled")]);
  await writeFile(gate, "");
  const again = await imprint(["project", "math", "--run", "--json"], at);
  expect(JSON.parse(again.stdout)).toMatchObject({ run: { run: 1, adapter_id: "math-1", status: "completed", moved: true } });
});

it("--watch runs on what is there, again when a session appears, and ends with Ctrl-C", async () => {
  const at = await servedPlace();
  const folder = await record(at, "add", "sub");
  const watching = start(["project", "math", "--from", folder, "--watch"], at.env);
  await watching.said("math@latest is math-1 now.");
  await record(at, "mul");
  await watching.said("math@latest is math-2 now");
  watching.child.kill("SIGINT");
  const { code, stdout } = await watching.ended;
  expect([code, stdout]).toEqual([0, expect.stringContaining("2 runs of math.")]);
});

it("TERM ends what watches a job or a run within two seconds, with a service of its own and without, and Ctrl-C does", async () => {
  let gate = "";
  const waiting = (root: string) => {
    gate = path.join(root, "go");
    return { wait_for: gate, ignore_cancel: true, export: { wait_for: gate } };
  };
  const at = await servedPlace(waiting);
  const folder = await record(at, "add", "sub");
  const end = async (running: ReturnType<typeof start>, signal: NodeJS.Signals, text: string): Promise<void> => {
    await running.said(text);
    running.child.kill(signal);
    const late = setTimeout(() => running.child.kill("SIGKILL"), 2_000);
    expect((await running.ended).code, `${running.child.spawnargs.join(" ")} ${signal}`).not.toBe(null);
    clearTimeout(late);
  };
  await end(start(["project", "math", "--from", folder], at.env), "SIGTERM", "step 1/3");
  await end(start(["job", "latest", "--watch"], at.env), "SIGTERM", "step 1/3");
  await end(start(["project", "math", "--from", folder, "--watch"], at.env), "SIGTERM", "step 1/3");
  await end(start(["project", "math", "--from", folder, "--watch"], at.env), "SIGINT", "step 1/3");

  const alone = await place(waiting);
  await end(start(["project", "math", "--from", await record(alone, "add", "sub")], alone.env), "SIGTERM", "step 1/3");
  await end(start(["project", "math", "--run"], alone.env), "SIGINT", "step 1/3");
});

/** What Claude Code keeps of sessions in a folder. */
async function recordClaude({ root }: Place, cwd: string, ...tasks: readonly string[]): Promise<void> {
  for (const [day, task] of tasks.entries()) {
    const lines = ["user", "assistant"].map((type, n) =>
      JSON.stringify({
        ...{ type, uuid: `u${n}`, parentUuid: n === 0 ? null : "u0", sessionId: task, cwd, gitBranch: "main" },
        ...{ timestamp: `2026-03-0${day + 1}T00:00:0${n}.000Z` },
        message: { role: type, content: `${task} by ${type}`, id: `m-${task}-${n}`, model: "claude-x" },
      }),
    );
    const file = path.join(root, ".claude", "projects", path.basename(cwd), `${task}.jsonl`);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, lines.join("\n"));
    await utimes(file, 0, 0);
  }
}

it("a folder names the project of its repository, with every agent's recordings in it and no others", async () => {
  const served = await servedPlace();
  const root = await realpath(served.root);
  const at = { ...served, env: { ...served.env, HOME: root } };
  const shop = path.join(root, "shop");
  await mkdir(path.join(shop, ".git"), { recursive: true });
  await recordClaude(at, shop, "add", "sub");
  await recordClaude(at, path.join(root, "other"), "mul", "div");
  const first = await imprint(["project", ".", "--rank", "4"], { ...at, cwd: shop });
  expect(first, first.stderr).toMatchObject({ code: 0 });
  expect(first.stderr).toContain(`2 sessions in ${shop}, 2 of them new here.`);
  expect(first.stdout).toMatch(/^shop@latest is shop-1 now\.$/m);
  const listed = await imprint(["sessions"], at);
  expect(listed.stdout).toMatch(/^SESSION +RECORDED +REPOSITORY +BRANCH +MODEL +/);
  expect(listed.stdout).toMatch(/^sub +2026-03-02 +shop +main +claude-x .*\nadd +2026-03-01 +shop +main +claude-x /m);
  expect((await imprint(["sessions", "shop"], at)).stdout).toBe(listed.stdout);
  expect((await imprint(["sessions", "other"], at)).stdout).toBe("No session has the words other.\n");
  expect((await imprint(["project", "shop"], at)).stdout).toContain(shop);

  const watching = start(["project", shop, "--watch"], at.env);
  await watching.said("every session was trained or tested on already");
  await recordClaude(at, path.join(root, "other"), "pow");
  await recordClaude(at, shop, "add", "sub", "mod");
  await watching.said("shop@latest is shop-2 now");
  watching.child.kill("SIGINT");
  expect((await watching.ended).code).toBe(0);
  expect(JSON.parse((await imprint(["sessions", "--json"], at)).stdout).sessions).toHaveLength(3);
});

it("a project of an agent's folder mixes no repositories", async () => {
  const served = await servedPlace();
  await recordClaude(served, "/srv/shop", "add", "sub");
  await recordClaude(served, "/srv/api", "mul");
  const folder = path.join(served.root, ".claude", "projects");
  expect(await imprint(["project", "math", "--from", folder], served)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/a project is of one: shop \(2\), api \(1\)\n +Name it: --repository shop/),
  });
  const named = await imprint(["project", "math", "--from", folder, "--repository", "shop", "--json"], served);
  expect(JSON.parse(named.stdout)).toMatchObject({ run: { sessions: { new: 1, held_out: ["sub"] } } });
  expect((await imprint(["project", "math", "--from", folder], served)).stdout).toContain("Nothing to train for math");
  expect(await imprint(["project", "x", "--from", folder, "--repository", "none"], served)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("none of the 3 files in"),
  });
});
