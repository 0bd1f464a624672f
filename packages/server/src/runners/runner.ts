import type {
  ChatResult,
  ErrorDetail,
  JobKind,
  Preview,
  RenderedPrompt,
  TaskResult,
  WorkerEvent,
  WorkerRequest,
  WorkerTask,
} from "@imprint/contracts";
import type { ImprintError } from "../common/error.js";

export type PreviewCall = Omit<Extract<WorkerRequest, { type: "preview" }>, "call_id">;
export type ChatCall = Omit<Extract<WorkerRequest, { type: "chat" }>, "call_id">;
type RenderCall = Omit<Extract<WorkerRequest, { type: "render" }>, "call_id">;
export type Call = PreviewCall | RenderCall | ChatCall;
export type CallResult = Preview | RenderedPrompt | ChatResult;
/**
 * What is told of a chat before its answer: `prompt` first, once nothing is left to refuse; `token` with `stream`, or among
 * calls. `call` is a call that the engine has read out of the answer itself: it is not in its text.
 */
export type ChatEvent =
  | Omit<Extract<WorkerEvent, { type: "prompt" }>, "call_id">
  | Omit<Extract<WorkerEvent, { type: "token" }>, "call_id">
  | { readonly type: "call"; readonly name: string; readonly arguments: string };

/** What a running task tells on its way. `log` is text of its standard error, without terminal escapes, at most a few times a second. */
export type TaskEvent =
  | Extract<WorkerEvent, { type: "phase" | "plan" | "progress" | "measuring" | "sweep" | "checkpoint" }>
  | { readonly type: "log"; readonly job_id: string; readonly text: string };

/** How a task ended. `done` means that the files are in the task's output_dir, not that they are good. */
export type Outcome =
  | { readonly type: "done"; readonly result: TaskResult }
  | { readonly type: "failed"; readonly error: ErrorDetail }
  | { readonly type: "cancelled" };

export interface JobHandle {
  /** Asks the task to stop, and sees to it that it does. Twice is fine, and so is after the outcome. `reason` SHUTTING_DOWN: nobody asked but the service. */
  cancel(reason?: unknown): void;
  /** Never rejects. Once settled, nothing of the task runs any more and no event follows. */
  readonly outcome: Promise<Outcome>;
}

export const failedAtOnce = (error: ImprintError): JobHandle => ({
  cancel: () => {},
  outcome: Promise.resolve({ type: "failed", error: error.toDetail() }),
});

/** What a job's record is made of again when a runner kept it over a restart. */
export interface JobMemo {
  readonly kind: JobKind;
  /** As it was resolved. */
  readonly request: Readonly<Record<string, unknown>>;
  readonly created_at: string;
}

/** A job that an earlier run of the service left with its runner. */
export interface LeftJob {
  readonly job_id: string;
  readonly task: WorkerTask;
  readonly memo: JobMemo | null;
}

/** Where jobs run: a task says with references (reference.ts) what it reads and writes, never with paths. test/runners/conformance.ts says what holds of every one. */
export interface Runner {
  /** Never throws. A job that is under way already is not started again: its second handle fails. */
  start(task: WorkerTask, onEvent: (event: TaskEvent) => void, memo?: JobMemo): JobHandle;
  /** The job that an earlier run of the service left running, followed again; null where there is none, or none can be left. */
  adopt(job_id: string, onEvent: (event: TaskEvent) => void): Promise<JobHandle | null>;
  /** What can be adopted; ask it before anything is started. Rejects where that is not known now. */
  leftBehind(): Promise<readonly LeftJob[]>;
  /** Stops these of them, and whatever else an earlier run left that nobody follows. Rejects, and stops nothing, where that is not known now. */
  release(job_ids: readonly string[]): Promise<void>;
  /** Stops everything; what does not stop within `graceMs` is killed. Jobs under way, and those that come later, fail with SHUTTING_DOWN. */
  close(graceMs: number): Promise<void>;
}

/** Who answers while somebody waits. */
export interface Interactive {
  /**
   * Rejects with ImprintError, or with the signal's reason when it aborts before the answer is there: a chat stops then. A chat
   * with `stream` tells its text as it is generated, all of it before the promise resolves.
   */
  call(request: PreviewCall, signal?: AbortSignal): Promise<Preview>;
  call(request: RenderCall, signal?: AbortSignal): Promise<RenderedPrompt>;
  call(request: ChatCall, signal?: AbortSignal, onEvent?: (event: ChatEvent) => void): Promise<ChatResult>;
}
