import { useMemo } from "react";
import { type Line, Plot } from "../plot/plot.js";
import type { Run } from "./runs.js";

const COLORS = ["--series-1", "--series-2"] as const;

/** The losses of one training or of two. */
export function LossPlot({ runs }: { readonly runs: readonly Run[] }) {
  const x = useMemo(() => {
    const steps = Array.from({ length: Math.max(0, ...runs.map(({ losses }) => losses.length)) }, (_, at) => at);
    return steps.filter((step) => runs.some(({ losses }) => (losses[step] ?? null) !== null));
  }, [runs]);
  const lines = useMemo<readonly Line[]>(
    () =>
      runs.map(({ label, losses }, at) => ({
        label,
        color: COLORS[at] ?? "--series-1",
        values: x.map((step) => losses[step] ?? null),
      })),
    [runs, x],
  );
  return <Plot title="Loss" x={x} lines={lines} />;
}
