import { basename } from "node:path";
import type { WorkerEvent, WorkerRequest } from "@imprint/contracts";
import type { Clock } from "../../common/clock.js";
import { ImprintError, type Log } from "../../common/error.js";
import { decodeEvent, ProtocolFault } from "./decode-event.js";
import { createLineReader } from "./line-reader.js";
import { createLineWriter } from "./line-writer.js";
import { type ProcessEnd, terminate, type WorkerProcess } from "./process.js";
import { createWorkerLog, type WorkerLog, withoutPaths } from "./worker-log.js";

/** A worker process as something that takes requests, gives events, and ends. */
export interface Link {
  readonly pid: number | undefined;
  readonly log: WorkerLog;
  send(request: WorkerRequest): void;
  /** Ends the process; the first reason given is the one that counts. */
  end(reason: ImprintError, graceMs: number): Promise<void>;
  /** False once the process ended or has to. */
  alive(): boolean;
  /** Resolves with the reason when the process is gone and all it wrote was read. */
  readonly gone: Promise<{ readonly reason: ImprintError; readonly clean: boolean }>;
}

interface LinkOptions {
  readonly process: WorkerProcess;
  readonly settings: WorkerSettings;
  /** May throw ProtocolFault, which ends the process. */
  readonly onEvent: (event: WorkerEvent) => void;
  readonly wasReady: () => boolean;
}

const LINES_TO_EXPLAIN = 20;
const MAX_LINE_BYTES = 32 * 1024 * 1024;

export function openLink({ process, settings, onEvent, wasReady }: LinkOptions): Link {
  const { clock, cancelGraceMs, maxLineBytes = MAX_LINE_BYTES } = settings;
  const log = createWorkerLog({ clock });
  let reason: ImprintError | undefined;

  const end = (why: ImprintError, graceMs: number): Promise<void> => {
    reason ??= why;
    return terminate({ process, graceMs, clock });
  };

  const fault = (what: string): void => {
    void end(new ImprintError("WORKER_PROTOCOL", `The trainer ${what}.`), cancelGraceMs);
  };

  const lines = createLineReader({
    maxLineBytes,
    onTooLong: () => fault(`wrote a line longer than ${maxLineBytes} bytes`),
    onLine(line) {
      if (reason) return;
      try {
        const event = decodeEvent(line);
        if (event) onEvent(event);
      } catch (thrown) {
        if (!(thrown instanceof ProtocolFault)) throw thrown;
        fault(thrown.message);
      }
    },
  });

  process.stdout?.on("data", lines.push);
  process.stderr?.on("data", log.write);

  const gone = process.ended.then((ended) => {
    const lastLines = log.lastLines(LINES_TO_EXPLAIN);
    const clean = ended.type === "exited" && ended.code === 0;
    reason ??= explainEnd({ end: ended, program: process.program, wasReady: wasReady(), lastLines });
    return { reason, clean };
  });

  return {
    pid: process.pid,
    log,
    send: createLineWriter((text) => void process.stdin?.write(text)),
    end,
    alive: () => reason === undefined,
    gone,
  };
}

/** How long to bear with a worker. */
export interface WorkerSettings {
  /** From its start to `ready`. */
  readonly startTimeoutMs: number;
  /** Longest silence while a task or call is under way. */
  readonly heartbeatTimeoutMs: number;
  /** From the cancel message to TERM, and again from TERM to KILL. */
  readonly cancelGraceMs: number;
  /** A worker that dies this soon after a result takes the result with it. Default 50. */
  readonly settleMs?: number;
  /** Default 32 MiB: the preview of a long session is one line. */
  readonly maxLineBytes?: number;
  readonly clock: Clock;
  readonly log: Log;
}

interface EndOptions {
  readonly end: ProcessEnd;
  /** What was started. */
  readonly program: string;
  readonly wasReady: boolean;
  /** The last lines of its standard error. */
  readonly lastLines: readonly string[];
}
const OUT_OF_MEMORY = /out of memory|MemoryError|can't allocate memory|cannot allocate memory|bad_alloc/i;
const DISK_FULL = /no space left on device|ENOSPC|disk quota exceeded/i;
const LINE_CHARACTERS = 200;

/** Why a worker or a command that nobody asked to end is gone, for the job or call that it took with it. */
export function explainEnd({ end, program, wasReady, lastLines }: EndOptions): ImprintError {
  if (end.type === "not_started") return new ImprintError("WORKER_START_FAILED", cannotStart(basename(program), end.cause));
  const how = manner(end);
  const log = lastLines.join("\n");
  const last = lastLines.at(-1);
  const quote = last === undefined ? "" : ` Its last line: ${withoutPaths(last).slice(0, LINE_CHARACTERS)}`;
  if (OUT_OF_MEMORY.test(log)) return new ImprintError("OUT_OF_MEMORY", `The trainer ran out of memory and ${how}.${quote}`);
  if (DISK_FULL.test(log)) return new ImprintError("DISK_FULL", `The disk filled up and the trainer ${how}.${quote}`);
  if (!wasReady) return new ImprintError("WORKER_START_FAILED", `The trainer ${how} before it was ready.${quote}`);
  if (end.code === 0) return new ImprintError("WORKER_NO_RESULT", `The trainer ended without a result.${quote}`);
  return new ImprintError("WORKER_CRASHED", `The trainer ${how}.${quote}`);
}

function cannotStart(program: string, { code }: NodeJS.ErrnoException): string {
  if (code === "ENOENT") return `The trainer cannot be started: there is no program ${program}.`;
  if (code === "EACCES") return `The trainer cannot be started: ${program} may not be executed.`;
  return `The trainer cannot be started: ${program} (${code ?? "unknown error"}).`;
}
const SHELL_SIGNAL_BASE = 128; // a shell in between reports a signal as 128 + its number
const SIGKILL = 9;

function manner({ code, signal }: Extract<ProcessEnd, { type: "exited" }>): string {
  if (signal === "SIGKILL" || code === SHELL_SIGNAL_BASE + SIGKILL) {
    return "was killed (SIGKILL), as a system does when memory runs out";
  }
  return signal === null ? `ended with exit code ${code}` : `was ended by signal ${signal}`;
}
