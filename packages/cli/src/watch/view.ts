import type { JobDetails } from "@imprint/contracts";

/** Shows how a job goes. */
export interface View {
  update(job: JobDetails): void;
  /** A line of the trainer's log. */
  log(line: string): void;
  /** Leaves the line to somebody else until the next update. */
  pause(): void;
  /** Nothing is shown afterwards. */
  end(): void;
}
