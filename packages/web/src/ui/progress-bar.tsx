import type { JobDetails, Measuring, Progress } from "@imprint/contracts";
import { duration } from "../text/numbers.js";
import { plain } from "../text/plain.js";

interface BarProps {
  readonly done: number;
  readonly total: number;
  readonly label: string;
  /** Behind the count. */
  readonly detail: string;
}

function Bar({ done, total, label, detail }: BarProps) {
  return (
    <span className="progress">
      <progress value={done} max={Math.max(1, total)} aria-label={label} />
      <span>
        {done}/{total}
        {detail !== "" && ` · ${detail}`}
      </span>
    </span>
  );
}

export function ProgressBar({ progress, label }: { readonly progress: Progress; readonly label: string }) {
  const { step, steps, eta_seconds: left } = progress;
  return <Bar done={step} total={steps} label={label} detail={left > 0 ? `${duration(left)} left at most` : ""} />;
}

/** How far an evaluation is, or a training and its proof. */
export function MeasuringBar({ measuring, label }: { readonly measuring: Measuring; readonly label: string }) {
  const { done, total, what, eta_seconds: left } = measuring;
  const time = left === undefined ? "" : ` · ${duration(left)} left at most`;
  return <Bar done={done} total={total} label={label} detail={`${plain(what)}${time}`} />;
}

/** How far a running job is: by its steps while it trains, else by what it has read. */
export function JobBar({ job, label }: { readonly job: JobDetails; readonly label: string }) {
  if (job.progress && job.phase === "training") return <ProgressBar progress={job.progress} label={label} />;
  return job.measuring && <MeasuringBar measuring={job.measuring} label={label} />;
}
