import { cpus } from "node:os";
import type { Llama } from "./library.js";

/** Between two looks at who computes: a core's times are told in hundredths of a second. */
const LOOK_MS = 500;

/** All in milliseconds, of all cores together. */
export interface Look {
  readonly now: number;
  /** Since the machine started: in which nobody computed. */
  readonly idle: number;
  /** In which this process did. */
  readonly own: number;
}

/** Of more than a few cores half are hyper-threads. */
export const mostThreads = (cores: number): number => Math.max(Math.floor(cores / 2), Math.min(cores, 4));

/** As many as there are cores that nobody else kept busy from one look to the next. */
export const threadsFor = (most: number, before: Look, after: Look): number => {
  const free = (after.idle - before.idle + after.own - before.own) / (after.now - before.now);
  return Math.max(1, Math.min(most, Math.round(free)));
};

const lookNow = (): Look => {
  const { user, system } = process.cpuUsage();
  const idle = cpus().reduce((sum, { times }) => sum + times.idle, 0);
  return { now: performance.now(), idle, own: (user + system) / 1000 };
};

/** Lets llama.cpp compute on the cores that are free: its threads wait for each other in loops, and beside a training or a build as many as there are cores stand still. */
export const createFreeCores = (
  llama: Pick<Llama, "maxThreads">,
  cores: number,
  look: () => Look = lookNow,
): (<T>(work: () => Promise<T>) => Promise<T>) => {
  const most = mostThreads(cores);
  let working = 0;
  let timer: NodeJS.Timeout | undefined;
  llama.maxThreads = most;
  const begin = (): void => {
    let before = look();
    timer = setInterval(() => {
      const after = look();
      llama.maxThreads = threadsFor(most, before, after);
      before = after;
    }, LOOK_MS);
  };
  return async (work) => {
    if (++working === 1) begin();
    try {
      return await work();
    } finally {
      if (--working === 0) clearInterval(timer);
    }
  };
};
