import type { Curve, Progress } from "@imprint/contracts";
import { useMemo } from "react";
import { type Line, Plot } from "./plot.js";

/** Where it was measured: a step repeats the latest until the next. */
const heldOutOf = (curve: Curve): readonly (number | null)[] =>
  curve.map(({ held_out_loss: loss }, at) => (loss === curve[at - 1]?.held_out_loss ? null : loss));

const PLOTS: readonly (readonly [title: string, key: keyof Progress, color: string])[] = [
  ["Loss", "loss", "--series-1"],
  ["Learning rate", "learning_rate", "--series-2"],
  ["Gradient norm", "grad_norm", "--series-3"],
  ["Tokens per second", "tokens_per_second", "--series-4"],
];

/** The four curves of a training, over its steps. */
export function Curves({ curve }: { readonly curve: Curve }) {
  const x = useMemo(() => curve.map(({ step }) => step), [curve]);
  const lines = useMemo<readonly (readonly Line[])[]>(
    () =>
      PLOTS.map(([label, key, color]) => {
        const line = { label, color, values: curve.map((progress) => progress[key]) };
        const heldOut = key === "loss" ? heldOutOf(curve) : [];
        return heldOut.some((loss) => loss !== null)
          ? [
              { ...line, label: "Training" },
              { label: "Held out", color: "--series-2", values: heldOut },
            ]
          : [line];
      }),
    [curve],
  );
  return (
    <div className="plots">
      {PLOTS.map(([title], at) => (
        <Plot key={title} title={title} x={x} lines={lines[at] ?? []} sync="training" isFromZero={title !== "Loss"} />
      ))}
    </div>
  );
}
