import type { Measuring, Progress } from "@imprint/contracts";
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

/** How far an evaluation is. */
export function MeasuringBar({ measuring, label }: { readonly measuring: Measuring; readonly label: string }) {
  return <Bar done={measuring.done} total={measuring.total} label={label} detail={plain(measuring.what)} />;
}
