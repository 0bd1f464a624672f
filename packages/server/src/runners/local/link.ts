import type { WorkerEvent, WorkerRequest } from "@imprint/contracts";
import { ImprintError } from "../../common/error.js";
import { ProtocolFault } from "./decode-event.js";
import { explainEnd } from "./explain-end.js";
import { createLineReader } from "./line-reader.js";
import { startProcess } from "./spawn.js";
import { terminate } from "./terminate.js";
import { createWorkerLog, type WorkerLog } from "./worker-log.js";
import type { WorkerSettings } from "./worker-settings.js";

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
  readonly settings: WorkerSettings;
  /** May throw ProtocolFault, which ends the process. */
  readonly onEvent: (event: WorkerEvent) => void;
  readonly wasReady: () => boolean;
}

const LINES_TO_EXPLAIN = 20;

export function openLink({ settings, onEvent, wasReady }: LinkOptions): Link {
  const { clock, cancelGraceMs, decode, maxLineBytes, killOnExit } = settings;
  const process = settings.process?.() ?? startProcess(settings);
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
        const event = decode(line);
        if (event) onEvent(event);
      } catch (thrown) {
        if (!(thrown instanceof ProtocolFault)) throw thrown;
        fault(thrown.message);
      }
    },
  });

  const forget = killOnExit.add(() => process.kill("SIGKILL"));
  process.stdout?.on("data", lines.push);
  process.stderr?.on("data", log.write);

  const gone = process.ended.then((ended) => {
    forget();
    const lastLines = log.lastLines(LINES_TO_EXPLAIN);
    const clean = ended.type === "exited" && ended.code === 0;
    reason ??= explainEnd({ end: ended, file: settings.file, wasReady: wasReady(), lastLines });
    return { reason, clean };
  });

  return {
    pid: process.pid,
    log,
    send: (request) => void process.stdin?.write(`${JSON.stringify(request)}\n`),
    end,
    alive: () => reason === undefined,
    gone,
  };
}
