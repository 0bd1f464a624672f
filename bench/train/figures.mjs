import { spread } from "../harness/statistics.mjs";

const rounded = (number, digits) => Number(number.toFixed(digits));
const roundedSpread = (numbers, digits) =>
  Object.fromEntries(Object.entries(spread(numbers)).map(([name, value]) => [name, rounded(value, digits)]));

/**
 * Of each trainer's steps: tokens a second, the speed of `imprint` against it round by round, how far its losses are
 * from those of `imprint` at most, and its peak memory against theirs. The first step warms up; its loss counts.
 */
export function figures(trainers) {
  const { imprint } = trainers;
  return Object.fromEntries(
    Object.entries(trainers).map(([name, { tokens, losses, seconds, peak_mb }]) => [
      name,
      {
        tokens_per_second: roundedSpread(
          seconds.slice(1).map((time) => tokens / time),
          1,
        ),
        speedup: roundedSpread(
          seconds.slice(1).map((time, at) => time / imprint.seconds[at + 1]),
          2,
        ),
        loss_difference: rounded(Math.max(...losses.map((loss, at) => Math.abs(imprint.losses[at] / loss - 1))), 5),
        peak_mb,
        peak_ratio: rounded(imprint.peak_mb / peak_mb, 2),
        losses: losses.map((loss) => rounded(loss, 4)),
        seconds: seconds.map((time) => rounded(time, 3)),
      },
    ]),
  );
}
