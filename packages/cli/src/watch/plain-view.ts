import type { JobDetails } from "@imprint/contracts";
import { duration } from "../output/text.js";
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
/** Who reads a log is told this often that the work goes on. */
const SILENCE_MS = 10_000;

/** A line for each change of phase, for every tenth of the work, and for every ten seconds without one: for logs and pipes. */
export function plainView(say: (line: string) => void): View {
  let phase = "";
  let since = performance.now();
  let planned = false;
  let tenth = -1;
  let current = (): string | null => null;
  const write = (line: string): void => {
    silence.refresh();
    say(line);
  };
  const silence = setInterval(() => {
    const line = current();
    if (line !== null) say(line);
  }, SILENCE_MS);
  return {
    update: (job: JobDetails) => {
      const plan = planned ? null : planOf(job);
      if (plan !== null) write(plan);
      planned ||= plan !== null;
      const words = phaseOf(job);
      if (words !== phase) {
        write(words);
        since = performance.now();
      }
      phase = words;
      const { status, progress, measuring } = job;
      current = () => `${words}  ${duration((performance.now() - since) / 1000)}`;
      if (status !== "running") return;
      const tell = (share: number, line: string): void => {
        const now = Math.floor(share * LINES);
        current = () => line;
        if (now !== tenth) write(line);
        tenth = now;
      };
      if (progress !== null && progress.steps > 0 && job.phase === "training")
        tell(progress.step / progress.steps, figures(progress));
      else if (measuring !== null) tell(measuring.done / measuring.total, measured(measuring, job.phase));
    },
    log: (line) => write(`  ${line}`),
    pause: () => {
      current = () => null;
    },
    end: () => clearInterval(silence),
  };
}
