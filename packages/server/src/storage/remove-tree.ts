import { opendir, rm, unlink } from "node:fs/promises";
import { join } from "node:path";

/**
 * Removes a folder with all that is in it, one file after the other: node's own `rm` asks for all of them at once, and whoever reads a file
 * meanwhile waits for hundreds of thousands. Stops where it is when `signal` aborts.
 */
export const removeTree = async (folder: string, signal?: AbortSignal): Promise<void> => {
  for await (const entry of await opendir(folder, { bufferSize: 256 })) {
    if (signal?.aborted) return;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await removeTree(path, signal);
    else await unlink(path);
  }
  // Some file systems leave out a file where others were removed meanwhile.
  if (!signal?.aborted) await rm(folder, { recursive: true, force: true });
};
