import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import type { TaskResult, WorkerTask } from "@imprint/contracts";
import { ImprintError } from "../../src/common/error.js";
import { type Deferred, defer } from "../../src/common/promises.js";
import type { Call, CallResult, Interactive, JobHandle, Outcome, Runner, TaskEvent } from "../../src/runners/runner.js";
import { evaluationOf, goodProof, writeAdapter, writeEvaluation, writeExport } from "../fixtures/workers/support/adapter.mjs";
import { like, recordedOf } from "../fixtures/workers/support/recording.mjs";

/** How a task goes on. */
export const MOVES = ["works", "does it well", "lies of a file", "keeps a file back", "crashes", "floods"] as const;
type Move = (typeof MOVES)[number];

interface Running {
  readonly task: WorkerTask;
  readonly onEvent: (event: TaskEvent) => void;
  readonly outcome: Deferred<Outcome>;
  step: number;
}

const STEPS = 1_000_000;

const failed = (code: "WORKER_CRASHED" | "TRAINER_ERROR" | "SHUTTING_DOWN"): Outcome => ({
  type: "failed",
  error: new ImprintError(code, "As the script says.").toDetail(),
});

/** Does a task as the real trainer would, with figures of its own. */
const perform = async ({ type, spec }: WorkerTask): Promise<TaskResult> => {
  if (type === "export") return writeExport(spec);
  if (type === "evaluate") return writeEvaluation(spec, evaluationOf(spec));
  if (type === "train_sweep") throw new Error("no sweep is in the script");
  return writeAdapter(spec, {
    rank: "rank" in spec ? spec.rank : 8,
    alpha: "alpha" in spec ? spec.alpha : 8,
    proof: goodProof,
    training: {},
  });
};

/** What is not so of what it made. */
const liedOf = async (move: Move, result: TaskResult, folder: string): Promise<TaskResult> => {
  const [first, ...rest] = result.files;
  if (move === "keeps a file back") return { ...result, files: rest } as TaskResult;
  if (move === "lies of a file" && first) await copyFile(join(folder, rest[0]?.name ?? first.name), join(folder, first.name));
  return result;
};

export type Trainer = ReturnType<typeof createTrainer>;

/** A runner whose tasks go on when the simulation says so, as it says. `resolve` names what they read and write by paths. */
export const createTrainer = (resolve: (task: WorkerTask) => WorkerTask) => {
  const running = new Map<string, Running>();
  const end = (id: string, outcome: Outcome): void => {
    running.get(id)?.outcome.resolve(outcome);
    running.delete(id);
  };

  const runner: Runner & Interactive = {
    start(task, onEvent): JobHandle {
      const one: Running = { task: resolve(task), onEvent, outcome: defer(), step: 0 };
      running.set(task.job_id, one);
      return { cancel: () => end(task.job_id, { type: "cancelled" }), outcome: one.outcome.promise };
    },
    adopt: async () => null,
    leftBehind: async () => [],
    release: async () => {},
    async close() {
      for (const id of [...running.keys()]) end(id, failed("SHUTTING_DOWN"));
    },
    async call(request: Call) {
      const { result } = recordedOf(request.type, "answer") as { readonly result: CallResult };
      return result as never;
    },
  };

  const move = async (id: string, how: Move): Promise<void> => {
    const one = running.get(id);
    if (!one) return;
    const { task, onEvent } = one;
    const progress = (): void => {
      one.step += 1;
      const { progress: said } = recordedOf("lora", "progress") as Extract<TaskEvent, { type: "progress" }>;
      onEvent({ type: "progress", job_id: id, progress: like(said, { step: one.step, steps: STEPS }) });
    };
    if (how === "works") return progress();
    if (how === "crashes") return end(id, failed("WORKER_CRASHED"));
    if (how === "floods") {
      for (let at = 0; at < 300; at += 1) progress();
      for (let at = 0; at < 30; at += 1) onEvent({ type: "log", job_id: id, text: "flood ".repeat(1000) });
      return;
    }
    try {
      const result = await perform(task);
      end(id, { type: "done", result: await liedOf(how, result, task.spec.output_dir) });
    } catch {
      end(id, failed("TRAINER_ERROR")); // its disk failed
    }
  };

  return { runner, move, running: (): readonly string[] => [...running.keys()] };
};
