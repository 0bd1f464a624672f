import type { MemoryPlan } from "@imprint/contracts";
import type { Paint } from "./paint.js";
import { fields } from "./table.js";
import { bytes } from "./text.js";

export const megabytes = (mb: number): string => bytes(mb * 1e6);

/** `1.8 GB of 20.1 GB`, or that it cannot be said. */
export const memoryOf = (memory: MemoryPlan | null): string =>
  memory === null
    ? "unknown: the base model's config.json does not name its sizes"
    : `${megabytes(memory.total_mb)} of ${megabytes(memory.available_mb)}${memory.fits ? "" : `: does not fit. ${memory.suggestion}`}`;

/** What the memory of a training goes to. */
export function memoryTable(memory: MemoryPlan, paint: Paint): string {
  const { weights_mb, activations_mb, optimizer_mb, logits_mb, total_mb } = memory;
  const rest = total_mb - weights_mb - activations_mb - optimizer_mb - logits_mb;
  return fields(
    [
      ["trainer", megabytes(Math.max(0, rest))],
      ["weights", megabytes(weights_mb)],
      ["activations", megabytes(activations_mb)],
      ["optimizer", megabytes(optimizer_mb)],
      ["logits", megabytes(logits_mb)],
      ["together", memoryOf(memory)],
    ],
    paint,
  );
}
