import { readdirSync, readFileSync } from "node:fs";

const TICKS = 100; // a second, on every Linux that Node runs on

const numbersOf = (pid) => {
  try {
    // Behind the name, which may hold spaces: state, parent, ... user and system time are the 12th and 13th.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ");
    return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return null; // has ended
  }
};

/** Processor time of the processes that this one has started and that run: what other work on the machine does not lengthen. */
export function processorSeconds() {
  const pids = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
  const own = pids.map(numbersOf).filter((found) => found?.parent === process.pid);
  return own.reduce((sum, { ticks }) => sum + ticks, 0) / TICKS;
}
