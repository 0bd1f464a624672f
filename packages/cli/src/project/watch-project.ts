import { ConflictError } from "@imprint/client";
import { isRunning, type ProjectRun, type ProjectRunRequest } from "@imprint/contracts";
import { walk } from "../files/walk.js";
import { type ImportedFile, importFiles } from "../import/import-files.js";
import { outlasting } from "../import/outlast.js";
import { shortReason } from "../import/refusals.js";
import { storing } from "../import/stores.js";
import { systemClock, watchFiles } from "../import/watch-files.js";
import type { Io } from "../io.js";
import { count } from "../output/text.js";
import type { Service } from "../service/connect.js";
import { type FollowedRun, followRun } from "./follow-run.js";
import { oneRepository, sessionsIn } from "./import-members.js";
import type { Scope } from "./scope.js";
import { timely } from "./timely.js";
import { isTime, WHEN, type When } from "./when.js";

interface WatchProject {
  readonly io: Io;
  readonly service: Service;
  readonly name: string;
  readonly folders: readonly string[];
  /** Null: all that the folders hold. */
  readonly scope: Scope | null;
  readonly when: When;
  /** Of every run; the sessions come from the folders. */
  readonly request: ProjectRunRequest;
  readonly note: (text: string) => void;
  /** Told of every run that has ended. */
  readonly onRun: (followed: FollowedRun) => void;
}

/** Imports sessions as they end and runs the project on them, until Ctrl-C. Answers what became of the runs. */
export async function watchProject({
  io,
  service,
  name,
  folders,
  scope,
  when,
  request,
  note,
  onRun,
}: WatchProject): Promise<readonly ProjectRun[]> {
  const { client, own } = service;
  const stop = new AbortController();
  const runs: ProjectRun[] = [];
  const watching = { io, client, own, name, note };

  /** A run, after one that somebody else has started. */
  const run = async (session_ids: readonly string[], signal: AbortSignal): Promise<FollowedRun | null> => {
    try {
      const { run: begun, sentence } = await client.projects.run(name, { ...request, session_ids: [...session_ids] }, { signal });
      note(sentence);
      return begun && (await followRun({ ...watching, number: begun.run, signal }));
    } catch (error) {
      if (!(error instanceof ConflictError) || error.code !== "PROJECT_BUSY") throw error;
      note(error.detail);
      const others = (await client.projects.get(name, { signal })).runs.find(isRunning);
      if (others && (await followRun({ ...watching, number: others.run, signal })) === null) return null;
      return signal.aborted ? null : run(session_ids, signal);
    }
  };
  const choose = scope === null ? oneRepository(name, note) : sessionsIn;
  const patient = { clock: systemClock, note };
  const patientStore = outlasting(storing(client, {}), patient);
  const patientRun = outlasting(when === "now" ? run : timely(run, { when, client, name, note }), patient);

  const take = async (candidates: Awaited<ReturnType<typeof walk>>["candidates"]): Promise<void> => {
    const onFile = (file: ImportedFile): void => {
      if (file.status === "failed") note(`${file.path}: ${shortReason(file)}`);
    };
    const files = await importFiles(candidates, { store: patientStore, observer: { onFile }, signal: stop.signal });
    const ids = choose(files);
    if (ids.length === 0 || stop.signal.aborted) return;
    note(`${count(ids.length, "session")} here, ${sessionsIn(files.filter(({ status }) => status === "stored")).length} new.`);
    const followed = await patientRun(ids, stop.signal);
    if (followed === null) return;
    runs.push(followed.run);
    onRun(followed);
  };

  const release = io.onInterrupt(() => stop.abort());
  const look = async () => {
    if (!(await isTime(when))) return [];
    const { candidates } = await walk(folders).catch(() => ({ candidates: [] }));
    return scope === null ? candidates : scope.filter(candidates);
  };
  note(`Watching ${folders.join(", ")} for ${name}, to train ${WHEN[when]}. Ctrl-C ends it.`);
  try {
    await watchFiles({
      look,
      take: async (candidates) => {
        try {
          await take(candidates);
        } catch (error) {
          if (!stop.signal.aborted) throw error; // what Ctrl-C broke off is no failure
        }
      },
      clock: systemClock,
      signal: stop.signal,
    });
  } finally {
    release();
  }
  return runs;
}
