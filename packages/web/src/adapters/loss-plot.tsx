import { useMemo } from "react";
import { type Line, Plot } from "../plot/plot.js";

const COLORS = ["--series-1", "--series-2"] as const;

/** Recorded losses over steps, of one adapter or of two. */
export function LossPlot({ runs }: { readonly runs: readonly { readonly label: string; readonly losses: readonly number[] }[] }) {
  const x = useMemo(
    () => Array.from({ length: Math.max(0, ...runs.map(({ losses }) => losses.length)) }, (_, at) => at + 1),
    [runs],
  );
  const lines = useMemo<readonly Line[]>(
    () =>
      runs.map(({ label, losses }, at) => ({
        label,
        color: COLORS[at] ?? "--series-1",
        values: x.map((step) => losses[step - 1] ?? null),
      })),
    [runs, x],
  );
  return <Plot title="Loss" x={x} lines={lines} />;
}
