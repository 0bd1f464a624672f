import { PassThrough, Writable } from "node:stream";
import type { Clock } from "../../common/clock.js";
import { ImprintError, type Log } from "../../common/error.js";
import type { ProcessEnd, WorkerProcess } from "../local/process.js";
import { type Attempt, type EndRecord, readEnd, writeRequest, writeStop } from "./attempt.js";
import type { EngineJob, JobsApi, Reply } from "./jobs-api.js";
import { type Limits, type Loss, lossOf } from "./status.js";
import type { Store } from "./stores/store.js";

/** How an attempt came to its end: `ended` by its own record; `detached`: it goes on without us. */
export type AttemptEnd = { readonly type: "ended"; readonly record: EndRecord } | { readonly type: "detached" } | Loss;

/** A worker on the cluster, as if it were a process of this machine: pipes are files of the shared storage. */
export interface RemoteProcess extends WorkerProcess {
  readonly end: Promise<AttemptEnd>;
  /** Follows it no more and lets it run. */
  detach(): void;
}

interface RemoteOptions {
  readonly attempt: Attempt;
  readonly program: string;
  readonly store: Store;
  readonly api: JobsApi;
  /** An earlier service started it: what it wrote is read from the beginning, and it has its task. */
  readonly adopted: boolean;
  readonly limits: Limits;
  readonly pollMs: number;
  /** How often the engine is asked. */
  readonly askMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

export const openRemote = (options: RemoteOptions): RemoteProcess => {
  const { attempt, program, store, api, adopted, limits, pollMs, askMs, clock, log } = options;
  const { folder, submission_id, job_id } = attempt;
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const events = store.tail(`${folder}/events.ndjson`, (chunk) => stdout.write(chunk));
  const logText = store.tail(`${folder}/log.txt`, (chunk) => stderr.write(chunk));
  let lastSign = clock.elapsed();
  let lastLook = lastSign;
  let engine: { reply: Reply<EngineJob>; since: number } | null = null;
  let asking: Promise<void> | null = null;
  let askedAt = Number.NEGATIVE_INFINITY;
  let killed: { at: number; acknowledged: boolean } | null = null;
  let wish: "term" | "kill" | null = null;
  let wished: "term" | "kill" | null = null;
  let detached = false;
  let foreign = false;
  let lines: readonly string[] = [];
  let wake = (): void => {};
  let isLookDue = false;

  const note = (reply: Reply<EngineJob>): void => {
    const same = engine !== null && JSON.stringify(engine.reply) === JSON.stringify(reply);
    if (!same) engine = { reply, since: clock.elapsed() };
    if (!same && reply.type === "unreachable")
      log.warn({ job_id, why: reply.why }, "the cluster does not answer; that is no failure");
    if (reply.type === "ok" && reply.value.status === "PENDING") lastSign = clock.elapsed();
  };

  const ask = (): void => {
    if (asking || clock.elapsed() - askedAt < askMs) return;
    askedAt = clock.elapsed();
    const stops = wish !== null && (wish === "kill" || !events.begun());
    asking = (async () => {
      if (stops) {
        const reply = await api.stop(submission_id);
        killed ??= { at: clock.elapsed(), acknowledged: false };
        if (reply.type === "ok" || reply.type === "missing") killed = { ...killed, acknowledged: true };
      }
      note(await api.status(submission_id));
    })().finally(() => {
      asking = null;
    });
  };

  /** The number of the next request; null until it is known how many an earlier service wrote. */
  let next: number | null = adopted ? null : 0;

  /** Requests, and how to stop; what the storage does not take now is written the next time. */
  const write = async (): Promise<void> => {
    if (wish !== null && wished !== wish) {
      const now = wish;
      await writeStop(store, folder, now);
      wished = now;
    }
    if (next === null) {
      next = (await store.list(`${folder}/requests`)).length;
      if (next > 0) lines = lines.slice(1);
    }
    for (let [line] = lines; line !== undefined; [line] = lines) {
      await writeRequest(store, folder, next, line);
      next += 1;
      lines = lines.slice(1);
    }
  };

  /** Rejects where the storage does not answer: nothing can be concluded then. */
  const look = async (): Promise<AttemptEnd | null> => {
    const end = await readEnd(store, folder, attempt);
    const record = end === "foreign" ? null : end;
    const isNew = [await events.read(record?.events.bytes), await logText.read(record?.log_bytes)].includes(true);
    if (isNew) lastSign = clock.elapsed();
    if (end === "foreign" && !foreign) log.warn({ job_id }, "an end that this attempt did not write was refused");
    foreign = end === "foreign";
    if (record === null || events.bytes() < record.events.bytes) return null;
    if (events.sha256() === record.events.sha256) return { type: "ended", record };
    const error = new ImprintError("WORKER_PROTOCOL", "The events on the shared storage are not those that the trainer wrote.");
    return { type: "lost", error, again: false };
  };

  const step = async (): Promise<AttemptEnd | null> => {
    if (detached) return { type: "detached" };
    ask();
    const unseen = clock.elapsed() - lastLook;
    try {
      await write();
      const end = await look();
      if (end) return end;
    } catch (err) {
      lastSign += unseen; // time in which nobody could look is no silence
      log.warn({ job_id, err }, "the shared storage does not answer");
    }
    lastLook = clock.elapsed();
    return lossOf({ now: clock.elapsed(), started: events.begun(), lastSign, engine, killed }, limits);
  };

  const lookNow = (): void => {
    isLookDue = true;
    wake();
  };

  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      const goOn = (): void => {
        disarm();
        isLookDue = false;
        wake = () => {};
        resolve();
      };
      const disarm = clock.after(pollMs, goOn);
      wake = goOn;
      if (isLookDue) goOn();
    });

  const follow = async (): Promise<AttemptEnd> => {
    for (;;) {
      const end = await step();
      if (end) return end;
      await pause();
    }
  };

  const drained = (stream: PassThrough): Promise<void> =>
    new Promise((resolve) => {
      stream.once("end", resolve);
      stream.end();
      stream.resume();
    });

  const end = follow().then(async (found) => {
    await Promise.all([drained(stdout), drained(stderr)]);
    return found;
  });

  const stdin = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      lines = [...lines, String(chunk).trim()];
      lookNow();
      done();
    },
  });

  return {
    program,
    pid: undefined,
    stdin,
    stdout,
    stderr,
    kill(signal) {
      if (signal === "SIGKILL") killed ??= { at: clock.elapsed(), acknowledged: false };
      wish = signal === "SIGKILL" ? "kill" : (wish ?? "term");
      askedAt = Number.NEGATIVE_INFINITY;
      lookNow();
    },
    detach() {
      detached = true;
      lookNow();
    },
    end,
    ended: end.then(endOf),
  };
};

const endOf = (end: AttemptEnd): ProcessEnd => {
  if (end.type !== "ended") return { type: "exited", code: 1, signal: null };
  const { how } = end.record;
  if (how.type === "not_started") return { type: "not_started", cause: Object.assign(new Error(how.code), { code: how.code }) };
  if (how.type === "settled") return { type: "exited", code: 0, signal: null };
  if (how.type === "never") return { type: "exited", code: null, signal: "SIGTERM" };
  return { type: "exited", code: how.code, signal: how.signal as NodeJS.Signals | null };
};
