import { lstat, opendir } from "node:fs/promises";
import path from "node:path";

/** What an entry takes at least: a bound holds for empty files too. */
const ENTRY = 4096;

/** Bytes on disk below a folder; it stops counting at `enough`, or at the signal. Links are not followed. */
export async function bytesBelow(folder: string, enough: number, signal: AbortSignal): Promise<number> {
  let bytes = 0;
  const folders = [folder];
  for (const at of folders) {
    try {
      for await (const entry of await opendir(at)) {
        const place = path.join(at, entry.name);
        bytes += Math.max(ENTRY, (await lstat(place)).blocks * 512);
        if (bytes >= enough || signal.aborted) return bytes;
        if (entry.isDirectory()) folders.push(place);
      }
    } catch {
      // It was removed meanwhile, or is not ours to read.
    }
  }
  return bytes;
}
