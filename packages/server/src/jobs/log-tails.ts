const KEPT_CHARACTERS = 64 * 1024; // of each job that runs
const KEPT_BYTES = 4 * 1024; // of each one that has ended
const NEWLINE = 0x0a;

export interface LogTails {
  append(job_id: string, text: string): void;
  get(job_id: string): string;
  /** Nothing follows: the tail shrinks to 4 KiB. */
  end(job_id: string): void;
  forget(job_id: string): void;
}

/** The end of each job's log; what came before is dropped by whole lines. */
export function createLogTails(): LogTails {
  const running = new Map<string, string>();
  const ended = new Map<string, Buffer>(); // a slice of a string would keep all of it in memory
  return {
    append(job_id, text) {
      const all = (running.get(job_id) ?? "") + text;
      if (all.length <= KEPT_CHARACTERS) running.set(job_id, all);
      else {
        const cut = all.slice(-KEPT_CHARACTERS);
        running.set(job_id, cut.slice(cut.indexOf("\n") + 1));
      }
    },
    get: (job_id) => running.get(job_id) ?? ended.get(job_id)?.toString() ?? "",
    end(job_id) {
      const text = running.get(job_id);
      running.delete(job_id);
      if (text !== undefined) ended.set(job_id, tailOf(Buffer.from(text)));
    },
    forget(job_id) {
      running.delete(job_id);
      ended.delete(job_id);
    },
  };
}

function tailOf(bytes: Buffer): Buffer {
  if (bytes.length <= KEPT_BYTES) return Buffer.from(bytes);
  const cut = bytes.subarray(-KEPT_BYTES);
  const start = cut.indexOf(NEWLINE) + 1;
  return Buffer.from(start < cut.length ? cut.subarray(start) : cut); // a line longer than all that is kept loses its beginning
}
