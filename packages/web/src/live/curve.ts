import type { Curve, Progress } from "@imprint/contracts";

const MOST_POINTS = 4_000;

/** The curve with one more step, or unchanged for a step that it has. A long one loses every second of its older points. */
export function addStep(curve: Curve, progress: Progress): Curve {
  const last = curve.at(-1);
  if (last && progress.step <= last.step) return curve;
  const kept = curve.length < MOST_POINTS ? curve : curve.filter((_, at) => at % 2 === 0);
  return [...kept, progress];
}
