import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { EvaluateTask, LoraTask, WorkerTask } from "@imprint/contracts";
import { onTestFinished } from "vitest";
import { systemClock } from "../../src/common/clock.js";
import { createIds } from "../../src/jobs/ids.js";
import { createLocalRunner, type LocalRunnerOptions } from "../../src/runners/local/local-runner.js";
import type { ChatCall, Interactive, JobHandle, Outcome, Runner, TaskEvent } from "../../src/runners/runner.js";
import { quietLog } from "../common/quiet-log.js";

const newId = createIds({ clock: systemClock() });

export const workerPath = (name: string): string => fileURLToPath(new URL(`../fixtures/workers/${name}`, import.meta.url));

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "imprint-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A runner on a fixture worker, closed after the test. */
export function runnerOn(
  worker: string,
  args: readonly string[] = [],
  options: Partial<LocalRunnerOptions> = {},
): Runner & Interactive {
  const runner = createLocalRunner({
    command: { file: process.execPath, args: [workerPath(worker), ...args] },
    env: process.env,
    heartbeatTimeoutMs: 15_000,
    startTimeoutMs: 15_000,
    cancelGraceMs: 200,
    log: quietLog(),
    clock: systemClock(),
    ...options,
  });
  onTestFinished(() => runner.close(0));
  return runner;
}

export function loraTask(spec: Partial<LoraTask["spec"]> = {}): LoraTask {
  return {
    type: "train_lora",
    job_id: newId(),
    spec: {
      session_ids: ["s"],
      session_paths: ["/nowhere/s.json"],
      train_on: "all",
      within: null,
      reasoning: false,
      adapter_id: "a",
      output_dir: "/nowhere/out",
      base_model: "tiny",
      base_model_name: "tiny",
      task_type: "code-gen",
      profile: "remember",
      holdout: "none",
      max_length: 64,
      include_unsuccessful: false,
      skip_invalid: false,
      unreadable: [],
      seed: 7,
      epochs: 1,
      rank: 4,
      alpha: 8,
      learning_rate: 0.001,
      target_modules: null,
      quantization: "none",
      checkpoint: { dir: "/nowhere/checkpoint", seconds: 60, start: "fresh" },
      ...spec,
    },
  };
}

/** Of an adapter that lies in `adapter_path` with its card. */
export function evaluateTask(spec: Partial<EvaluateTask["spec"]> = {}): EvaluateTask {
  return {
    type: "evaluate",
    job_id: newId(),
    spec: {
      adapter_id: "a",
      adapter_path: "/nowhere/a",
      base_model: "tiny",
      base_model_name: "tiny",
      sessions: [{ session_id: "s", path: "/nowhere/s.json" }],
      trained_on: [],
      control: null,
      actions: 0,
      seed: 0,
      cache_dir: "/nowhere/cache",
      output_dir: "/nowhere/out",
      ...spec,
    },
  };
}

export const userSays = (content: string): ChatCall["spec"]["messages"][number] => ({
  role: "user",
  content,
  tool_calls: [],
  tool_call_id: null,
});

export function chatCall(spec: Partial<ChatCall["spec"]> = {}): ChatCall {
  return {
    type: "chat",
    spec: {
      base_model: "tiny",
      adapter_path: null,
      messages: [userSays("hello")],
      tools: [],
      tool_choice: "auto",
      parallel_tool_calls: true,
      json_schema: null,
      max_tokens: 8,
      temperature: 0,
      top_p: 1,
      top_k: 0,
      min_p: 0,
      enable_thinking: null,
      stop: [],
      seed: 1,
      stream: false,
      ...spec,
    },
  };
}

/** A started task with what it told so far. */
export interface Watched extends JobHandle {
  readonly events: readonly TaskEvent[];
  /** Resolves with the first event, past or to come, that answers the question. */
  seen(question: (event: TaskEvent) => boolean): Promise<TaskEvent>;
  logText(): string;
}

export function startWatched(runner: Runner, task: WorkerTask): Watched {
  const events: TaskEvent[] = [];
  const waiting = new Set<() => void>();
  const handle = runner.start(task, (event) => {
    events.push(event);
    for (const look of waiting) look();
  });
  return {
    ...handle,
    events,
    seen: (question) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = events.find(question);
          if (!found) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    logText: () => events.map((event) => (event.type === "log" ? event.text : "")).join(""),
  };
}

export function outcomeOf(runner: Runner, task: WorkerTask = loraTask()): Promise<Outcome> {
  return runner.start(task, () => {}).outcome;
}

/** A task in the hands of stubborn.mjs, and the id of the process that it started. */
export async function startStubborn(runner: Runner): Promise<Watched & { readonly child: number }> {
  const output_dir = temporaryFolder();
  const watched = startWatched(runner, loraTask({ output_dir }));
  await watched.seen(({ type }) => type === "phase");
  return { ...watched, child: Number(readFileSync(join(output_dir, "child.pid"), "utf8")) };
}
