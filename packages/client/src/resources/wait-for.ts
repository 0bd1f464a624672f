import type { JobDetails, JobEvent } from "@imprint/contracts";
import { AbortError, ImprintError } from "../errors.js";
import type { EventStream } from "../events/subscribe.js";
import type { CallOptions, Runtime } from "../http/options.js";

/** The job after an event; null as long as nothing is known of it. Every event but a log line is one version of the record. */
function fold(job: JobDetails | null, event: JobEvent): JobDetails | null {
  if (event.type === "snapshot" || event.type === "status") return event.job;
  if (event.type === "progress" && job !== null) return { ...job, progress: event.progress, version: job.version + 1 };
  return job;
}

/** Text by which the place in a log is found again. */
const MARK = 1_000;

/** What of a log's end was not told yet; all of it when the place where the telling stopped is not in it any more. */
function untold(told: string, log: string): string {
  const mark = told.slice(-MARK);
  const at = mark === "" ? -1 : log.lastIndexOf(mark);
  return at < 0 ? log : log.slice(at + mark.length);
}

export interface WaitOptions extends CallOptions {
  /** Called with each new version of the job that is seen, the last one included. */
  readonly onUpdate?: (job: JobDetails) => void;
  /** Called with the end of the trainer's log, and with new text as it comes. Not told while the job is only looked at. */
  readonly onLog?: (text: string) => void;
  /** Milliseconds between two looks where events cannot be had: the first, and the longest while nothing changes. Default: 200 and 2,000. */
  readonly pollMs?: { readonly first: number; readonly longest: number };
}

interface Waiting {
  readonly jobId: string;
  readonly details: (jobId: string, options?: CallOptions) => Promise<JobDetails>;
  readonly events: (jobId: string, options?: CallOptions) => EventStream<JobEvent>;
  readonly runtime: Runtime;
  readonly options?: WaitOptions | undefined;
}

export const isFinished = (job: Pick<JobDetails, "status">): boolean => job.status !== "queued" && job.status !== "running";

/** The part of the options that is the calls' own: the streams have a time limit of another kind. */
const callOptions = ({ signal, maxRetries }: WaitOptions): CallOptions => ({
  ...(signal && { signal }),
  ...(maxRetries !== undefined && { maxRetries }),
});

/** Follows a job's events to its end; null when the stream ended otherwise. */
async function listen({ jobId, events, options = {} }: Waiting, onUpdate: (job: JobDetails) => void): Promise<JobDetails | null> {
  let job: JobDetails | null = null;
  let told = "";
  const tell = (text: string): void => {
    if (text === "") return;
    told = (told + text).slice(-2_000);
    options.onLog?.(text);
  };
  for await (const event of events(jobId, callOptions(options))) {
    if (event.type === "snapshot") tell(untold(told, event.log));
    if (event.type === "log") tell(event.text);
    job = fold(job, event);
    if (job !== null) onUpdate(job);
    if (job !== null && isFinished(job)) return job;
  }
  return null;
}

/** Looks at a job until it is finished, less often while it does not change. */
async function look(
  { jobId, details, runtime, options = {} }: Waiting,
  onUpdate: (job: JobDetails) => boolean,
): Promise<JobDetails> {
  const { first, longest } = options.pollMs ?? { first: 200, longest: 2_000 };
  for (let pause = first; ; pause = Math.min(longest, pause * 1.5)) {
    const job = await details(jobId, options);
    if (onUpdate(job)) pause = first;
    if (isFinished(job)) return job;
    await runtime.sleep(pause, options.signal).catch((cause) => {
      throw new AbortError("Waiting for the job was aborted; the job itself goes on", { cause });
    });
  }
}

/** Follows a job until it is finished: by its events, or by looking at it where the stream cannot be had. */
export async function waitFor(waiting: Waiting): Promise<JobDetails> {
  let seen = 0;
  const onUpdate = (job: JobDetails): boolean => {
    if (job.version <= seen) return false;
    seen = job.version;
    waiting.options?.onUpdate?.(job);
    return true;
  };
  try {
    const job = await listen(waiting, onUpdate);
    if (job !== null) return job;
  } catch (error) {
    // What the caller's own functions throw is the caller's.
    if (error instanceof AbortError || !(error instanceof ImprintError)) throw error;
  }
  return look(waiting, onUpdate);
}
