import type { JobDetails } from "@imprint/contracts";
import { phaseOf, planOf } from "./phase.js";
import { figures } from "./progress.js";
import type { View } from "./view.js";

/** A log has room for this many lines of progress. */
const LINES = 10;

/** A line for each change of phase and for every tenth of the training: for logs and pipes. */
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
      if (job.status !== "running" || job.progress === null || job.progress.steps === 0) return;
      const now = Math.floor((job.progress.step / job.progress.steps) * LINES);
      if (now !== tenth) write(figures(job.progress));
      tenth = now;
    },
    log: (line) => write(`  ${line}`),
    pause: () => undefined,
    end: () => undefined,
  };
}
