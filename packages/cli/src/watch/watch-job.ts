import { AbortError, ConflictError, type Imprint } from "@imprint/client";
import type { JobDetails } from "@imprint/contracts";
import type { Io } from "../io.js";
import { ask, isYes } from "../output/ask.js";
import { plain } from "../output/text.js";
import { plainView } from "./plain-view.js";
import { terminalView } from "./terminal-view.js";

export interface WatchOptions {
  readonly io: Pick<Io, "err" | "input" | "paint" | "onInterrupt">;
  readonly client: Imprint;
  readonly jobId: string;
  /** True when the job ends with this process: an interrupt then cancels it. */
  readonly own: boolean;
  /** No progress at all. */
  readonly quiet?: boolean;
  /** The trainer's log as well. */
  readonly log?: boolean;
}

const hidden = { update: () => undefined, log: () => undefined, pause: () => undefined, end: () => undefined };

/** A job that this process runs gets so long to stop, and to keep what it learned, once Ctrl-C cancelled it. */
const CANCEL_MS = 1_500;

/**
 * Follows a job to its end and answers with its last details; null when Ctrl-C or TERM stopped the watching and the job goes on.
 * On a terminal the first Ctrl-C asks whether the job shall stop too; a second one, as TERM, waits for nothing.
 */
export async function watchJob({ io, client, jobId, own, quiet = false, log = false }: WatchOptions): Promise<JobDetails | null> {
  const terminal = io.err.isTTY === true;
  const view = quiet ? hidden : terminal ? terminalView(io) : plainView((line) => void io.err.write(plain(`${line}\n`)));
  const stopped = new AbortController();
  let interrupts = 0;
  let asking = false;

  let unfinished = "";
  /** Shows whole lines, none while a question stands. */
  const onLog = (text: string): void => {
    unfinished += text;
    if (asking) return;
    const lines = unfinished.split("\n");
    unfinished = lines.pop() ?? "";
    for (const line of lines) view.log(plain(line));
  };
  const cancel = async (): Promise<void> => {
    view.pause();
    io.err.write(plain(`Cancelling ${jobId}.\n`));
    if (own) setTimeout(() => stopped.abort(), CANCEL_MS).unref();
    // Finished in the meantime: the next look shows it.
    await client.jobs.cancel(jobId, { signal: stopped.signal }).catch((error) => {
      if (!(error instanceof ConflictError)) stopped.abort();
    });
  };
  const onInterrupt = async (signal: NodeJS.Signals): Promise<void> => {
    interrupts += 1;
    if (interrupts > 1 || signal === "SIGTERM") return stopped.abort();
    if (own) return cancel();
    if (!terminal || io.input.isTTY !== true) return stopped.abort();
    asking = true;
    view.pause();
    const answer = await ask(io, `Cancel job ${jobId}? [y/N] `, stopped.signal);
    asking = false;
    if (isYes(answer)) await cancel();
    else stopped.abort();
  };

  const release = io.onInterrupt((signal) => void onInterrupt(signal));
  try {
    const onUpdate = (job: JobDetails): void => {
      if (!asking) view.update(job);
    };
    return await client.jobs.waitFor(jobId, { signal: stopped.signal, onUpdate, ...(log && { onLog }) });
  } catch (error) {
    if (error instanceof AbortError) return null;
    throw error;
  } finally {
    stopped.abort();
    view.end();
    release();
  }
}
