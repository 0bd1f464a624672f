import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { type ErrorDetail, isObject } from "@imprint/contracts";
import type { Clock } from "../../common/clock.js";
import { ImprintError } from "../../common/error.js";
import { commandEnvironment } from "./environment.js";
import { explainEnd } from "./link.js";
import type { WorkerCommand } from "./local-runner.js";
import { createKillOnExit, type Spawn, startProcess, terminate } from "./process.js";

type Document = Readonly<Record<string, unknown>>;

interface CallOptions {
  /** Ends the command; the promise rejects with its reason. */
  readonly signal?: AbortSignal;
  /** Told of each JSON document that the command prints; such a command ends when its stdin does, and others have none. */
  readonly onLine?: (line: Document) => void;
  /** Whether it may reach the hub and the package index, with this user's account there. Default: false. */
  readonly online?: boolean;
}

/**
 * Runs a command of the trainer in a process of its own; answers with the last JSON document that it prints. Rejects with the error
 * that this is, or with how the command ended.
 */
export type RunCommand = (args: readonly string[], options?: CallOptions) => Promise<Document>;

interface Options {
  /** How its worker is run; "serve" and what follows are replaced. Null where setup has not run. */
  readonly command: WorkerCommand | null;
  readonly env: NodeJS.ProcessEnv;
  /** How long a command may take to end once it was told to. */
  readonly graceMs: number;
  readonly clock: Clock;
}

export const createRunCommand = ({ command, env, graceMs, clock }: Options): RunCommand => {
  const killOnExit = createKillOnExit();
  return async (args, { signal, onLine, online = false } = {}) => {
    if (command === null) throw new ImprintError("WORKER_START_FAILED", "No Python interpreter is prepared for the trainer.");
    const process = startProcess({
      file: command.file,
      args: [...command.args.slice(0, command.args.indexOf("serve")), ...args],
      env: commandEnvironment({ source: env, online, extra: command.env }),
      spawn: spawn as Spawn,
      killOnExit,
      clock,
    });
    const stop = (): void => void terminate({ process, graceMs, clock });
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) stop();
    if (!onLine) process.stdin?.end();
    let [last, said]: [Document, string] = [{}, ""];
    process.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-4096);
    });
    if (process.stdout)
      createInterface({ input: process.stdout }).on("line", (line) => {
        if (!line.startsWith("{")) return;
        last = JSON.parse(line);
        onLine?.(last);
      });
    const end = await process.ended;
    signal?.removeEventListener("abort", stop);
    signal?.throwIfAborted();
    if (isObject(last.error)) throw ImprintError.from(last.error as unknown as ErrorDetail);
    if (end.type === "exited" && end.code === 0) return last;
    throw explainEnd({ end, program: command.file, wasReady: true, lastLines: said.match(/.+/g) ?? [] });
  };
};
