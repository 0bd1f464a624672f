export { wilson } from "../../packages/cli/dist/privacy/statistics.js";

/** Median, least and greatest of a list that is not empty. */
export function spread(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  return { median, min: sorted[0], max: sorted.at(-1) };
}
