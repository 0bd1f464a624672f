const KEPT_CHARACTERS = 64 * 1024; // of each job

export interface LogTails {
  append(job_id: string, text: string): void;
  get(job_id: string): string;
  forget(job_id: string): void;
}

/** The end of each job's log; what came before is dropped by whole lines. */
export function createLogTails(): LogTails {
  const tails = new Map<string, string>();
  return {
    append(job_id, text) {
      const all = (tails.get(job_id) ?? "") + text;
      if (all.length <= KEPT_CHARACTERS) tails.set(job_id, all);
      else {
        const cut = all.slice(-KEPT_CHARACTERS);
        tails.set(job_id, cut.slice(cut.indexOf("\n") + 1));
      }
    },
    get: (job_id) => tails.get(job_id) ?? "",
    forget: (job_id) => void tails.delete(job_id),
  };
}
