import type { KeptCheckpoint, LeftJobs } from "@imprint/contracts";
import { count, plain } from "./text.js";

/** How to go on with a training or a sweep whose job is over, or lost with its service. `name` is how the command was called. */
export const goOnLines = ({ job_id, kind }: Pick<KeptCheckpoint, "job_id" | "kind">, name: string): readonly string[] =>
  kind === "sweep"
    ? [`  to go on:   ${name} sweep --resume ${job_id}`]
    : [`  to go on:   ${name} train --resume ${job_id}`, `  to use it:  ${name} salvage ${job_id}`];

/** What a service that stopped, or was killed, left of its jobs, and what to do with it. */
export const leftLines = ({ unstarted, checkpoints }: LeftJobs, name: string): readonly string[] => [
  ...(unstarted === 0
    ? []
    : [`${count(unstarted, "job")} waited when the service stopped: ${name} jobs --resubmit starts them.`]),
  ...checkpoints.flatMap((kept) => [
    plain(
      `Job ${kept.job_id}${kept.adapter_id === null ? "" : ` of ${kept.adapter_id}`} left a checkpoint at ${kept.written_at}.`,
    ),
    ...goOnLines(kept, name),
  ]),
];
