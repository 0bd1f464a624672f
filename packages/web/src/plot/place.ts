const MARGIN = 0.08; // of the range, on both sides

/** Where values stand on a common axis that holds 0, in per cent of its width. */
export function placeOf(values: readonly number[]): (value: number) => number {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const range = high - low || 1;
  const first = low - range * MARGIN;
  return (value) => ((value - first) / (range * (1 + 2 * MARGIN))) * 100;
}
