const Z = 1.959964; // 95 % of a normal distribution

/** The interval of Wilson for `hits` of `total`, as shares. */
export function wilson(hits, total) {
  if (total === 0) return [0, 1];
  const share = hits / total;
  const middle = share + (Z * Z) / (2 * total);
  const reach = Z * Math.sqrt((share * (1 - share)) / total + (Z * Z) / (4 * total * total));
  const scale = 1 + (Z * Z) / total;
  return [Math.max(0, (middle - reach) / scale), Math.min(1, (middle + reach) / scale)];
}

/** Median, least and greatest of a list that is not empty. */
export function spread(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  return { median, min: sorted[0], max: sorted.at(-1) };
}
