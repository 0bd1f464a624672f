import { basename } from "node:path";
import { ImprintError } from "../../common/error.js";
import { withoutPaths } from "./readable.js";
import type { ProcessEnd } from "./spawn.js";

interface EndOptions {
  readonly end: ProcessEnd;
  /** The program that was started. */
  readonly file: string;
  readonly wasReady: boolean;
  /** The last lines of its standard error. */
  readonly lastLines: readonly string[];
}

const OUT_OF_MEMORY = /out of memory|MemoryError|can't allocate memory|cannot allocate memory|bad_alloc/i;
const DISK_FULL = /no space left on device|ENOSPC|disk quota exceeded/i;
const LINE_CHARACTERS = 200;

/** Why a worker that nobody asked to end is gone, for the job or call that it took with it. */
export function explainEnd({ end, file, wasReady, lastLines }: EndOptions): ImprintError {
  if (end.type === "not_started") return new ImprintError("WORKER_START_FAILED", cannotStart(basename(file), end.cause));
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
