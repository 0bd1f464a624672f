import { randomUUID } from "node:crypto";
import { opendir, readdir, rename, rm, unlink } from "node:fs/promises";
import { join } from "node:path";

/** Removes folders in the background: hundreds of thousands of files take minutes, and nobody waits for them. */
export interface Discards {
  /** Removes what earlier runs left. */
  resume(): Promise<void>;
  /** Puts a folder out of the way, and begins to remove it; where that fails the next start does. */
  discard(folder: string): Promise<void>;
  /** Stops where it is; what is left is the next start's. */
  close(): Promise<void>;
}

const DISCARDED = ".discarded-";

/** Puts a folder out of the way, within the same file system. */
export const setAside = async (root: string, folder: string): Promise<string> => {
  const aside = join(root, `${DISCARDED}${randomUUID()}`);
  await rename(folder, aside);
  return aside;
};

export const createDiscards = ({
  root,
  onError,
}: {
  readonly root: string;
  readonly onError: (error: unknown) => void;
}): Discards => {
  const closing = new AbortController();
  const removing = new Set<Promise<void>>();
  const remove = (folder: string): void => {
    const removed = removeTree(folder, closing.signal)
      .catch(onError)
      .finally(() => removing.delete(removed));
    removing.add(removed);
  };
  return {
    resume: async () => {
      for (const name of await readdir(root)) if (name.startsWith(DISCARDED)) remove(join(root, name));
    },
    discard: (folder) => setAside(root, folder).then(remove, onError),
    close: async () => {
      closing.abort();
      await Promise.all(removing);
    },
  };
};

/**
 * Removes a folder with all that is in it, one file after the other: node's own `rm` asks for all of them at once, and whoever reads a file
 * meanwhile waits for hundreds of thousands. Stops where it is when `signal` aborts.
 */
const removeTree = async (folder: string, signal?: AbortSignal): Promise<void> => {
  for await (const entry of await opendir(folder, { bufferSize: 256 })) {
    if (signal?.aborted) return;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await removeTree(path, signal);
    else await unlink(path);
  }
  // Some file systems leave out a file where others were removed meanwhile.
  if (!signal?.aborted) await rm(folder, { recursive: true, force: true });
};
