import { UsageError } from "../errors.js";

export interface WatchFlags {
  readonly watch?: boolean;
  readonly log?: boolean;
}

/** @throws UsageError for `--log` alone */
export function checkFlags({ watch, log }: WatchFlags): void {
  if (log && !watch) throw new UsageError("--log shows what happens while a job is watched: add --watch");
}
