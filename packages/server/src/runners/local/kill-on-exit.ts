export interface KillOnExit {
  /** Calls `kill` if this process ends before the answer is called. */
  add(kill: () => void): () => void;
}

/** The last resort when the service ends without closing: an uncaught error, process.exit. Listens only while there is something to kill. */
export function createKillOnExit(): KillOnExit {
  const kills = new Set<() => void>();
  const killAll = (): void => {
    for (const kill of kills) kill();
  };
  return {
    add(kill) {
      if (kills.size === 0) process.on("exit", killAll);
      kills.add(kill);
      return () => {
        if (kills.delete(kill) && kills.size === 0) process.off("exit", killAll);
      };
    },
  };
}
