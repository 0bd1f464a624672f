import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Imprint } from "@imprint/client";
import { type SessionSummary, TASK_LIMITS, type TaskRowName, type TaskRun } from "@imprint/contracts";
import { type Agent, settingsFor, writeFiles } from "../../launch/agents.js";
import { checkResult } from "../check.js";
import { remove } from "../folders.js";
import type { Sandbox } from "../sandbox.js";
import type { LoadedTask } from "../task-file.js";
import { installedIn, makeWorkspace } from "../workspace.js";
import { openGate } from "./gate.js";
import type { Installed } from "./installed.js";
import { changedIn, filesOf, outcomeOf } from "./outcome.js";

/** What all cells of an evaluation share. */
export interface Bench {
  readonly client: Imprint;
  readonly service: { readonly url: string; readonly token: string | null };
  readonly sandbox: Sandbox;
  readonly agent: Agent;
  readonly installed: Installed;
  /** Tokens that the base model reads, where that is known. */
  readonly context: number | null;
  /** Where cells work, one after the other: the agent finds the same paths in each row. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

/** One agent at one task. */
export interface Cell {
  readonly loaded: LoadedTask;
  readonly row: TaskRowName;
  readonly seed: number;
  /** What answers: the base model, or an adapter. */
  readonly model: string;
  readonly prompt: string;
}

const LIMITS = { memoryMb: 8192, processes: 512, fileMb: 1024 };
const LOOK_EVERY_MS = 100;
const LOOKS = 50;

/** The sessions of a group, once its answers stand in them: they are stored behind the answers. */
async function recorded(client: Imprint, group: string, answers: number): Promise<readonly SessionSummary[]> {
  for (let looks = 1; ; looks += 1) {
    const { sessions } = await client.sessions.list({ prefix: `${group}-` });
    const turns = sessions.reduce((sum, { assistant_turns }) => sum + assistant_turns, 0);
    if (turns >= answers || looks === LOOKS) return sessions;
    await wait(LOOK_EVERY_MS);
  }
}

/** Lets the agent do the task in a fresh workspace, and checks what it left. Rejects where the signal ended it. */
export async function runCell(bench: Bench, { loaded, row, seed, model, prompt }: Cell): Promise<TaskRun> {
  const { client, service, sandbox, agent, installed, context, folder } = bench;
  const { name, solution, limits = TASK_LIMITS } = loaded.task;
  const [workspace, settingsFolder] = [path.join(folder, name), path.join(folder, "settings")];
  for (const one of [workspace, settingsFolder]) await remove(one);
  await mkdir(settingsFolder, { mode: 0o700 });
  await makeWorkspace(loaded, workspace);
  const before = await filesOf(workspace);
  const group = `${name.slice(0, 20)}-${row}-${randomBytes(4).toString("hex")}`;
  const full = new AbortController();
  const onFull = (): void => full.abort();
  const gate = await openGate({ service, agent: agent.name, group, model, seed, turns: limits.turns, onFull });
  const base = `http://127.0.0.1:${gate.port}`;
  const settings = settingsFor(agent, { base, token: "none", model, context, folder: settingsFolder });
  await writeFiles(settingsFolder, settings);
  const begun = performance.now();
  try {
    const end = await sandbox.run({
      // The sandbox has a PATH of its own, to which the agent's is added.
      command: [
        ...(["sh", "-c", 'PATH="$1:$PATH"; export PATH; shift; exec "$@"', "sh", installed.path.join(":")] as const),
        ...[installed.program, ...settings.args, ...agent.alone(prompt)],
      ],
      workspace,
      readable: [...installed.readable, ...(await installedIn(loaded)), settingsFolder],
      env: { LANG: "C.UTF-8", TERM: "dumb", PYTHONDONTWRITEBYTECODE: "1", ...settings.env },
      port: gate.port,
      limits: { ...LIMITS, seconds: limits.seconds },
      signal: AbortSignal.any([bench.signal, full.signal]),
    });
    const seconds = (performance.now() - begun) / 1000;
    bench.signal.throwIfAborted();
    const { solved } = await checkResult(loaded, workspace, sandbox, bench.signal);
    bench.signal.throwIfAborted();
    const { heard } = gate;
    const sessions = await recorded(client, group, heard.turns);
    const calls = sessions.reduce((sum, { tool_calls }) => sum + tool_calls, 0);
    const changed = changedIn(before, await filesOf(workspace));
    const turns = full.signal.aborted ? limits.turns : null;
    // Beside its task an agent may have asked for a title.
    const [session] = sessions.toSorted((one, other) => other.assistant_turns - one.assistant_turns);
    return {
      task: name,
      row,
      seed,
      ...outcomeOf({ solved, end, heard, full: turns, seconds: limits.seconds, changed, calls, solution }),
      ...{ turns: heard.turns, prompt_tokens: heard.prompt_tokens, completion_tokens: heard.completion_tokens },
      seconds: Math.round(seconds * 10) / 10,
      session_id: session?.session_id ?? null,
    };
  } finally {
    await gate.close();
  }
}
