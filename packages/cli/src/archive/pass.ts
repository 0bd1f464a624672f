import { readdir } from "node:fs/promises";
import path from "node:path";
import { isThere } from "../files/agent-folders.js";
import { type Archive, drop, type Kept, keep, saveArchive } from "./store.js";

const DATABASE = /\.(?:db|vscdb)(?:-wal)?$/;
/** A crash loses the copies of so many files from the index, not the files. */
const SAVED_EVERY = 500;

export interface Passed {
  readonly new: number;
  readonly changed: number;
  readonly same: number;
  /** Kept, and not in the agents' folders any more. */
  readonly gone: readonly Kept[];
  readonly failed: readonly { readonly path: string; readonly reason: string }[];
}

/** The files of folders, and named ones with what a database writes ahead; links are not followed. */
async function* filesOf(places: readonly string[]): AsyncGenerator<string> {
  for (const place of places) {
    const entries = await readdir(place, { withFileTypes: true }).catch(() => null);
    if (entries === null) {
      yield place;
      if (DATABASE.test(place) && (await isThere(`${place}-wal`))) yield `${place}-wal`;
      continue;
    }
    for (const entry of entries) {
      const file = path.join(place, entry.name);
      if (entry.isFile()) yield file;
      else if (entry.isDirectory()) yield* filesOf([file]);
    }
  }
}

/** Keeps what agents recorded since the last pass. `told` hears the file that is copied. */
export async function archivePass({
  archive,
  places,
  signal,
  told = () => {},
}: {
  readonly archive: Archive;
  readonly places: readonly string[];
  readonly signal: AbortSignal;
  readonly told?: (done: number) => void;
}): Promise<Passed> {
  const counts = { new: 0, changed: 0, same: 0 };
  const failed: { path: string; reason: string }[] = [];
  const seen = new Set<string>();
  let replaced: string[] = [];
  const save = async (): Promise<void> => {
    await saveArchive(archive);
    await drop(archive, replaced);
    replaced = [];
  };
  for await (const file of filesOf(places)) {
    if (signal.aborted) break;
    seen.add(file);
    const before = archive.files.get(file)?.sha256;
    try {
      const change = await keep(archive, file, DATABASE.test(file));
      counts[change] += 1;
      if (change === "changed" && before !== undefined) replaced.push(before);
    } catch (error) {
      failed.push({ path: file, reason: error instanceof Error ? error.message : String(error) });
    }
    const copied = counts.new + counts.changed;
    if (copied > 0 && copied % SAVED_EVERY === 0) await save();
    told(seen.size);
  }
  if (counts.new + counts.changed > 0) await save();
  signal.throwIfAborted();
  const isBelow = ({ path: file }: Kept): boolean => places.some((place) => file === place || file.startsWith(place + path.sep));
  const gone = [...archive.files.values()].filter((one) => isBelow(one) && !seen.has(one.path));
  return { ...counts, gone, failed };
}
