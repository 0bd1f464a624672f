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

/** Processor seconds of each work, run once a round, in turn (A B A B ...), after one round that does not count: median, least, greatest. */
export async function interleaved({ works, rounds, clock = seconds }) {
  const times = Object.fromEntries(Object.keys(works).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++)
    for (const [name, work] of Object.entries(works)) {
      const time = await clock(work);
      if (round > 0) times[name].push(time);
    }
  return Object.fromEntries(Object.entries(times).map(([name, all]) => [name, spread(all)]));
}
