import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { AGENTS } from "../../packages/cli/dist/launch/agents.js";
import { CommandFailure } from "../../scripts/lib/process/failures.mjs";
import { run } from "../../scripts/lib/process/run.mjs";
import { SYSTEM_FIRST } from "./generate/write.mjs";

const CONFIG = new URL("mini.yaml", import.meta.url).pathname;
const BUBBLEWRAP = "/usr/bin/bwrap";

/** Nothing but the folder may be written where bubblewrap is installed; else as any program, in the folder. */
function confined(folder, command) {
  if (!existsSync(BUBBLEWRAP)) return command;
  const mounts = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", folder, folder];
  return [BUBBLEWRAP, ...mounts, "--unshare-pid", "--die-with-parent", ...command];
}

const MODULES = ["run.mini", "models.litellm_model", "agents.interactive", "environments.local"];

/** Has Python keep the agent's modules compiled: each start of it reads them, most of its processor time. */
export async function compileAgent(programs) {
  const { PYTHONDONTWRITEBYTECODE: _, ...env } = process.env;
  const { env: own } = AGENTS.mini.settings({ base: "", token: "", model: "" });
  const imports = MODULES.map((name) => `import minisweagent.${name}`).join("\n");
  await run(path.join(programs, "python"), ["-c", imports], { env: { ...env, ...own }, name: "mini's Python" });
}

/**
 * Lets mini-swe-agent work in a clone of a repository, asking the service at `url`. Resolves with what `look` makes of the result's
 * folder, how the agent ended (`Submitted`, `LimitsExceeded`, ...), its answers, the tokens it wrote, and seconds.
 */
export async function runAgent({ repository, commit, prompt, limits, url, model, programs, signal, look }) {
  const folder = mkdtempSync(path.join(os.tmpdir(), "imprint-task-"));
  const [home, work, trajectory] = ["home", "repository", "run.traj.json"].map((name) => path.join(folder, name));
  try {
    mkdirSync(home);
    await run("git", ["clone", "--quiet", "--no-hardlinks", repository, work]);
    await run("git", ["checkout", "--quiet", commit], { cwd: work });
    const { args, env } = AGENTS.mini.settings({ base: url, token: "imprint", model });
    const options = ["-c", CONFIG, "-c", `agent.step_limit=${limits.turns}`, "-o", trajectory];
    const command = [path.join(programs, "mini"), ...args, ...options, "-t", prompt];
    const [program, ...rest] = confined(folder, command);
    const began = performance.now();
    const failure = await run(program, rest, {
      cwd: work,
      env: {
        PATH: SYSTEM_FIRST,
        HOME: home,
        TMPDIR: folder,
        LANG: "C.UTF-8",
        TERM: "dumb",
        PYTHONDONTWRITEBYTECODE: "1",
        ...env,
      },
      timeoutMs: limits.seconds * 1000,
      signal,
      name: "mini",
    }).catch((error) => error);
    const seconds = (performance.now() - began) / 1000;
    if (failure instanceof Error && !(failure instanceof CommandFailure)) throw failure;
    return { ...told(trajectory, failure), seconds, found: await look(work) };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What the trajectory says of the run. */
function told(trajectory, failure) {
  const timedOut = failure.timedOutMs != null;
  if (!existsSync(trajectory)) {
    if (timedOut) return { exit: "TimeExceeded", turns: 0, tokens: 0, messages: [] };
    throw failure;
  }
  const { info, messages } = JSON.parse(readFileSync(trajectory, "utf8"));
  const answers = messages.map(({ extra }) => extra?.response?.usage).filter((usage) => usage !== undefined);
  return {
    exit: timedOut ? "TimeExceeded" : info.exit_status,
    turns: answers.length,
    tokens: answers.reduce((sum, { completion_tokens }) => sum + completion_tokens, 0),
    messages: messages.map(({ role, content, tool_calls }) => ({ role, content, tool_calls })),
  };
}
