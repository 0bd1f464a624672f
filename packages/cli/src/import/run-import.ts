import { UsageError } from "../errors.js";
import type { Candidate } from "../files/candidate.js";
import { walk } from "../files/walk.js";
import type { Io } from "../io.js";
import { count } from "../output/text.js";
import { type ImportedFile, importFiles, type Store } from "./import-files.js";
import { outlasting } from "./outlast.js";
import { importProgress } from "./progress.js";
import { refusalLines, shortReason } from "./refusals.js";
import { systemClock, watchFiles } from "./watch-files.js";

export interface RunImport {
  readonly io: Io;
  readonly paths: readonly string[];
  /** Only files written since, in milliseconds since 1970. */
  readonly since: number | null;
  readonly note: (text: string) => void;
  /** Which of the files there are imported, where not all are. */
  readonly only?: (candidates: readonly Candidate[]) => Promise<readonly Candidate[]>;
  /** Lends the store for the length of the import: nothing is started when there is nothing to import. */
  readonly connect: (use: (store: Store) => Promise<readonly ImportedFile[]>) => Promise<readonly ImportedFile[]>;
  readonly watch?: boolean;
  /** Every file that is not imported by its name, with all that is known. */
  readonly verbose?: boolean;
}

const isNew = (since: number | null) => (candidate: Candidate) => since === null || candidate.modified >= since;

/** Nothing of what was pointed at could be imported: the paths are wrong. */
function checkAny(files: readonly ImportedFile[], { paths, verbose = false }: RunImport): void {
  if (files.some(({ status }) => status !== "failed" && status !== "skipped")) return;
  const failed = files.filter(({ status }) => status === "failed");
  const lines = refusalLines(failed.length > 0 ? failed : files, { verbose });
  throw new UsageError([`${paths.join(", ")}: no file there could be imported, nothing is stored`, ...lines].join("\n"));
}

async function once(given: RunImport, candidates: readonly Candidate[], store: Store): Promise<readonly ImportedFile[]> {
  const progress = importProgress({ io: given.io, candidates, now: performance.now.bind(performance) });
  try {
    return await importFiles(candidates, { store, observer: progress });
  } finally {
    progress.end();
  }
}

/** Imports what is there and what comes, until Ctrl-C. */
async function untilInterrupt(given: RunImport, store: Store): Promise<readonly ImportedFile[]> {
  const { io, paths, since, note } = given;
  const stop = new AbortController();
  const patient = outlasting(store, { clock: systemClock, note });
  const files = new Map<string, ImportedFile>();
  const release = io.onInterrupt(() => stop.abort());
  note(`Watching ${paths.join(", ")}. Ctrl-C ends it.`);
  try {
    await watchFiles({
      // A folder that goes away while it is watched may come back.
      look: async () => (await walk(paths).catch(() => ({ candidates: [] }))).candidates.filter(isNew(since)),
      take: async (candidates) => {
        const onFile = (file: ImportedFile): void => {
          files.set(file.path, file);
          const what =
            file.reason !== undefined ? shortReason(file) : file.sessions.map(({ session_id }) => session_id).join(", ");
          if (file.status === "stored" || file.status === "failed")
            note([file.status, what, file.path, ...file.warnings].join("  "));
        };
        await importFiles(candidates, { store: patient, observer: { onFile }, signal: stop.signal });
      },
      clock: systemClock,
      signal: stop.signal,
    });
  } finally {
    release();
  }
  return [...files.values()];
}

/** Imports the sessions at the paths. Throws a UsageError when there are none. */
export async function runImport(given: RunImport): Promise<readonly ImportedFile[]> {
  const { paths, since, note, watch = false, connect, only } = given;
  const { candidates: found, links } = await walk(paths);
  const candidates = only === undefined ? found : await only(found);
  for (const { path, reason } of links) note(`${path}: ${reason}`);
  if (watch) return connect((store) => untilInterrupt(given, store));
  const fresh = candidates.filter(isNew(since));
  const older = candidates.length - fresh.length;
  if (older > 0) note(`${count(older, "older file")} left out.`);
  if (fresh.length === 0 && older > 0) return [];
  const skipped = links.map(({ path, reason }) => ({ path, status: "skipped" as const, sessions: [], warnings: [], reason }));
  if (fresh.length === 0)
    throw new UsageError(
      [
        `${paths.join(", ")}: no file there looks like a recorded session: name others, such as ~/.claude/projects`,
        ...links.map(({ path, reason }) => `${path}: ${reason}`),
      ].join("\n"),
    );
  const files = await connect((store) => once(given, fresh, store));
  checkAny(files, given);
  return [...files, ...skipped];
}
