/** What chats wait for just now, in words for people: `GET /health` tells it, and `imprint chat` while nothing of an answer is there. */
export interface Preparing {
  now(): string[];
  /** Tells `what` until the work has ended. */
  during<T>(what: () => string, work: Promise<T>): Promise<T>;
}

export const createPreparing = (): Preparing => {
  const told = new Set<() => string>();
  return {
    now: () => [...new Set([...told].map((what) => what()))],
    during: (what, work) => {
      const one = (): string => what();
      told.add(one);
      return work.finally(() => told.delete(one));
    },
  };
};
