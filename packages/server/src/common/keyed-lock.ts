/** Runs work that concerns some keys, once no earlier work concerns any of them. All of its keys at once, so that none wait in a ring. */
export type KeyedLock = <Result>(keys: readonly string[], work: () => Promise<Result>) => Promise<Result>;

export const createKeyedLock = (): KeyedLock => {
  const last = new Map<string, Promise<unknown>>();
  return (keys, work) => {
    const earlier = Promise.all(keys.flatMap((key) => last.get(key) ?? []));
    const done = earlier.then(work);
    const settled = done
      .catch(() => undefined)
      .then(() => {
        for (const key of keys) if (last.get(key) === settled) last.delete(key);
      });
    for (const key of keys) last.set(key, settled);
    return done;
  };
};
