const Z = 1.959964; // 95 %

/** Wilson's interval for a share, 95 %; of nothing, all shares. */
export function wilson(hits, count) {
  if (count === 0) return [0, 1];
  const share = hits / count;
  const scale = 1 + Z ** 2 / count;
  const middle = (share + Z ** 2 / (2 * count)) / scale;
  const reach = (Z * Math.sqrt((share * (1 - share)) / count + Z ** 2 / (4 * count ** 2))) / scale;
  return [Math.max(0, middle - reach), Math.min(1, middle + reach)];
}

/** Median, least and greatest of a list that is not empty. */
export function spread(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  return { median, min: sorted[0], max: sorted.at(-1) };
}
