/** Work done once for all who ask before it begins, and never twice at once: nobody is told what was so before they asked. */
export const shared = <Result>(work: () => Promise<Result>): (() => Promise<Result>) => {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<Result> | null = null;
  const begin = (): Promise<Result> => {
    next = null;
    const running = work();
    last = running.catch(() => undefined);
    return running;
  };
  return () => {
    next ??= last.then(begin);
    return next;
  };
};
