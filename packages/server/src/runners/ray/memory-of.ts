import type { PreviewSpec, WorkerTask } from "@imprint/contracts";
import { type Places, resolveTask } from "../reference.js";
import type { Interactive } from "../runner.js";

interface MemoryOptions {
  readonly task: WorkerTask;
  readonly places: Places;
  readonly interactive: Interactive;
  readonly signal: AbortSignal;
}

const MB = 1_000_000;

/** Bytes that a training takes on a CPU, by the memory model of its preview; null where nobody knows, or the job itself will say why. */
export const memoryOf = async ({ task, places, interactive, signal }: MemoryOptions): Promise<number | null> => {
  if (task.type !== "train_lora") return null;
  const here = resolveTask(task, places);
  if (here.type !== "train_lora") return null;
  const { session_ids, session_paths, skip_invalid, unreadable, base_model, profile, holdout, max_length } = here.spec;
  const { include_unsuccessful, train_on, reasoning, epochs, rank, target_modules, quantization } = here.spec;
  const windows = { session_ids, session_paths, skip_invalid, unreadable, base_model, profile, holdout, max_length };
  const spec: PreviewSpec = { ...windows, include_unsuccessful, train_on, reasoning, epochs, rank, target_modules, quantization };
  try {
    const { memory } = await interactive.call({ type: "preview", spec, window: null }, signal);
    return memory === null ? null : Math.ceil(memory.total_mb * MB);
  } catch {
    signal.throwIfAborted();
    return null;
  }
};
