import type { Sweep } from "@imprint/contracts";
import type { Line } from "../plot/plot.js";

const COLORS = ["--series-1", "--series-2", "--series-3", "--series-4"];

/** A line for each trial over the steps at which any of them was measured. */
export function curvesOf({ trials }: Sweep): { readonly x: readonly number[]; readonly lines: readonly Line[] } {
  const measured = trials.filter(({ curve }) => curve.length > 0);
  const x = [...new Set(measured.flatMap(({ curve }) => curve.map(({ step }) => step)))].sort((a, b) => a - b);
  const lines = measured.map(({ trial, curve }) => {
    const losses = new Map(curve.map(({ step, loss }) => [step, loss]));
    return {
      label: `Trial ${trial}`,
      color: COLORS[(trial - 1) % COLORS.length] ?? "--series-1",
      values: x.map((step) => losses.get(step) ?? null),
    };
  });
  return { x, lines };
}
