import type { JobDetails } from "@imprint/contracts";
import { phaseOf, planOf } from "./phase.js";
import { figures, measured } from "./progress.js";

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

/** A log has room for this many lines of progress. */
const LINES = 10;

/** A line for each change of phase and for every tenth of the work: for logs and pipes. */
export function plainView(write: (line: string) => void): View {
  let phase = "";
  let planned = false;
  let tenth = -1;
  return {
    update: (job: JobDetails) => {
      const plan = planned ? null : planOf(job);
      if (plan !== null) write(plan);
      planned ||= plan !== null;
      const words = phaseOf(job);
      if (words !== phase) write(words);
      phase = words;
      const { status, progress, measuring } = job;
      if (status !== "running") return;
      const tell = (share: number, line: string): void => {
        const now = Math.floor(share * LINES);
        if (now !== tenth) write(line);
        tenth = now;
      };
      if (progress !== null && progress.steps > 0 && job.phase === "training")
        tell(progress.step / progress.steps, figures(progress));
      else if (measuring !== null) tell(measuring.done / measuring.total, measured(measuring, job.phase));
    },
    log: (line) => write(`  ${line}`),
    pause: () => undefined,
    end: () => undefined,
  };
}
