import { existsSync } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { createProcessPool, type Patience, PROGRAM } from "./process-pool.js";
import { type Answers, filesOf, runTask, type TaskName, type Tasks, textIn } from "./tasks.js";

export interface FileStore {
  /** Rejects as `runTask` does, and as a process's end: when the task needs more memory or time than it may have, or is given up. */
  run<Name extends TaskName>(name: Name, task: Tasks[Name], patience?: Patience): Promise<Answers[Name]>;
  close(): void;
}

/** Reading so many bytes takes the time of a few requests: larger files would keep all others waiting. */
const LARGE = 64 * 1024;

/** About twice what the largest file within the importers' limits was seen to need. One made to need more ends its process, and not the service. */
const HEAP_MB = 768;

const MAGIC = 4;

/** Bytes of a file; 0 for one that is gone, which the task says better. */
const sizeOf = (file: string): Promise<number> =>
  lstat(file).then(
    ({ size }) => size,
    () => 0,
  );

/** A small recording may unpack to a large one. Stored sessions are never compressed. */
const startsCompressed = async (file: string): Promise<boolean> => {
  const { isCompressed } = await import("@imprint/sessions");
  const handle = await open(file);
  try {
    const { buffer } = await handle.read(Buffer.alloc(MAGIC), 0, MAGIC, 0);
    return isCompressed(buffer);
  } finally {
    await handle.close();
  }
};

const isSmall = async <Name extends TaskName>(name: Name, task: Tasks[Name]): Promise<boolean> => {
  const text = textIn(task);
  if (text !== null) return text.length < LARGE;
  const files = filesOf(name, task);
  if (Math.max(...(await Promise.all(files.map(sizeOf)))) >= LARGE) return false;
  return name !== "import" || !(await Promise.all(files.map(startsCompressed))).includes(true);
};

/** Reads small files at once, and large or compressed ones in so many processes. */
export const createFileStore = ({
  processes = 1,
  heapMb = HEAP_MB,
}: {
  readonly processes?: number;
  readonly heapMb?: number;
} = {}): FileStore => {
  const pool = createProcessPool({ size: processes, heapMb });
  return {
    run: async (name, task, patience) => {
      if ((await isSmall(name, task)) || !existsSync(PROGRAM)) return runTask(name, task);
      // A process answers one request at a time: the answer is this one's.
      return pool.ask({ name, task }, patience) as Promise<Answers[typeof name]>;
    },
    close: () => pool.close(),
  };
};
