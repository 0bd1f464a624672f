export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

const Z = 1.959964; // 95 %

/** Wilson's interval for a share, 95 %; of nothing, all shares. */
export function wilson(hits: number, count: number): readonly [low: number, high: number] {
  if (count === 0) return [0, 1];
  const share = hits / count;
  const scale = 1 + Z ** 2 / count;
  const middle = (share + Z ** 2 / (2 * count)) / scale;
  const reach = (Z * Math.sqrt((share * (1 - share)) / count + Z ** 2 / (4 * count ** 2))) / scale;
  return [Math.max(0, middle - reach), Math.min(1, middle + reach)];
}
