import type { JobDetails, Measuring, Progress } from "@imprint/contracts";
import { bytes, duration } from "../text/numbers.js";
import { plain } from "../text/plain.js";

interface BarProps {
  readonly done: number;
  readonly total: number;
  /** How the two are written; default: as they are. */
  readonly write?: ((amount: number) => string) | undefined;
  readonly label: string;
  /** Behind the count. */
  readonly detail: string;
}

function Bar({ done, total, write = String, label, detail }: BarProps) {
  return (
    <span className="progress">
      <progress value={done} max={Math.max(1, total)} aria-label={label} />
      <span>
        {write(done)}/{write(total)}
        {detail !== "" && ` · ${detail}`}
      </span>
    </span>
  );
}

function ProgressBar({ progress, label }: { readonly progress: Progress; readonly label: string }) {
  const { step, steps, eta_seconds: left } = progress;
  return <Bar done={step} total={steps} label={label} detail={left > 0 ? `${duration(left)} left at most` : ""} />;
}

interface MeasuringProps {
  readonly measuring: Measuring;
  readonly label: string;
  readonly write?: BarProps["write"];
}

/** How far an evaluation is, or a training and its proof, or a pull. */
export function MeasuringBar({ measuring, label, write }: MeasuringProps) {
  const { done, total, what, eta_seconds: left } = measuring;
  const time = left === undefined ? "" : ` · ${duration(left)} left at most`;
  return <Bar done={done} total={total} write={write} label={label} detail={`${plain(what)}${time}`} />;
}

/** How far a running job is: by its steps while it trains, else by what it has read. */
export function JobBar({ job, label }: { readonly job: JobDetails; readonly label: string }) {
  if (job.progress && job.phase === "training") return <ProgressBar progress={job.progress} label={label} />;
  return (
    job.measuring && <MeasuringBar measuring={job.measuring} label={label} write={job.phase === "fetching" ? bytes : undefined} />
  );
}
