import type { ChatResult, ErrorDetail, Preview, TaskResult, WorkerEvent, WorkerRequest, WorkerTask } from "@imprint/contracts";

export type PreviewCall = Omit<Extract<WorkerRequest, { type: "preview" }>, "call_id">;
export type ChatCall = Omit<Extract<WorkerRequest, { type: "chat" }>, "call_id">;

/** What a running task tells on its way. `log` is text of its standard error, without terminal escapes, at most a few times a second. */
export type TaskEvent =
  | Extract<WorkerEvent, { type: "phase" | "plan" | "progress" | "checkpoint" }>
  | { readonly type: "log"; readonly job_id: string; readonly text: string };

/** How a task ended. `done` means that the files are in the task's output_dir, not that they are good. */
export type Outcome =
  | { readonly type: "done"; readonly result: TaskResult }
  | { readonly type: "failed"; readonly error: ErrorDetail }
  | { readonly type: "cancelled" };

export interface JobHandle {
  /** Asks the task to stop, and sees to it that it does. Twice is fine. */
  cancel(): void;
  /** Never rejects. Once settled, nothing of the task runs any more and no event follows. */
  readonly outcome: Promise<Outcome>;
}

/** Where trainings run. */
export interface Executor {
  start(task: WorkerTask, onEvent: (event: TaskEvent) => void): JobHandle;
  /**
   * Rejects with ImprintError, or with the signal's reason when it aborts before the answer is there: a chat stops then. A chat
   * with `stream` tells its text as it is generated, all of it before the promise resolves.
   */
  call(request: PreviewCall, signal?: AbortSignal): Promise<Preview>;
  call(request: ChatCall, signal?: AbortSignal, onText?: (text: string) => void): Promise<ChatResult>;
  /** Stops everything; what does not stop within `graceMs` is killed. Tasks and calls under way fail with SHUTTING_DOWN. */
  close(graceMs: number): Promise<void>;
}
