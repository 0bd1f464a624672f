import type { Progress } from "@imprint/contracts";
import { duration } from "../text/numbers.js";

export function ProgressBar({ progress, label }: { readonly progress: Progress; readonly label: string }) {
  return (
    <span className="progress">
      <progress value={progress.step} max={Math.max(1, progress.steps)} aria-label={label} />
      <span>
        {progress.step}/{progress.steps}
        {progress.eta_seconds > 0 && ` · ${duration(progress.eta_seconds)} left at most`}
      </span>
    </span>
  );
}
