import { spread } from "./statistics.mjs";

/** Seconds since a look at `performance.now()`. */
export const since = (began) => (performance.now() - began) / 1000;

/** Processor seconds (user and system) of this process while `work` runs. */
async function seconds(work) {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1e6;
}

/**
 * Runs each work once a round, in turn (A B A B ...), after one round that does not count. Gives the processor seconds
 * of each as median, least and greatest, and the ratio to the first, taken round by round so that a drifting clock
 * does not move it.
 */
export async function interleaved({ works, rounds, clock = seconds }) {
  const names = Object.keys(works);
  const times = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++)
    for (const name of names) {
      const time = await clock(works[name]);
      if (round > 0) times[name].push(time);
    }
  const first = times[names[0]];
  return Object.fromEntries(
    names.map((name) => [name, { ...spread(times[name]), ratio: spread(times[name].map((time, at) => time / first[at])) }]),
  );
}
