import { randomUUID } from "node:crypto";
import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { removeTree } from "./remove-tree.js";

/** Removes folders in the background: hundreds of thousands of files take minutes, and nobody waits for them. */
export interface Discards {
  /** Removes what earlier runs left. */
  resume(): Promise<void>;
  /** Puts a folder out of the way, and begins to remove it. */
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
    discard: async (folder) => remove(await setAside(root, folder)),
    close: async () => {
      closing.abort();
      await Promise.all(removing);
    },
  };
};
