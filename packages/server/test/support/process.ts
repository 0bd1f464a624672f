import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished, vi } from "vitest";
import { MODEL, makeModel } from "./service.js";

export { build } from "../../../cli/test/support/build.js";

const MAIN = fileURLToPath(new URL("../../bundle/main.js", import.meta.url));
const TRAINER = fileURLToPath(new URL("../fixtures/workers/trainer.mjs", import.meta.url));

export interface Process {
  readonly child: ChildProcess;
  readonly url: string;
  /** Exit code and signal. */
  readonly ended: Promise<readonly [code: number | null, signal: NodeJS.Signals | null]>;
  readonly fetch: (path: string, init?: RequestInit) => Promise<Response>;
  readonly start: (body: object) => Promise<string>;
  /** What the service logged so far. */
  readonly logged: () => readonly { readonly level: number; readonly msg: string; readonly err?: { readonly code?: string } }[];
}

/** An interpreter that writes its process id to `worker.pid` and becomes `program`, with whatever it is given. */
const makeInterpreter = (folder: string, program: string): string => {
  const path = join(folder, "python");
  writeFileSync(path, `#!/bin/sh\necho $$ > "${folder}/worker.pid"\nexec ${program} "$@"\n`);
  chmodSync(path, 0o755);
  return path;
};

export const workerPid = (folder: string): number | null =>
  existsSync(join(folder, "worker.pid")) ? Number(readFileSync(join(folder, "worker.pid"), "utf8")) || null : null; // empty at first

/** Whether a process of this id runs; one that is dead and not yet reaped does not. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !existsSync("/proc/self/stat") || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
};

/** Resolves once a process that was killed is gone: its end follows the signal, and is not part of it. */
export const gone = (pid: number): Promise<void> =>
  vi.waitFor(
    () => {
      if (isAlive(pid)) throw new Error(`process ${pid} is still there`);
    },
    { timeout: 8_000, interval: 20 },
  );

/** Bytes of memory that the process has now. Small images have no `ps`. */
export const memoryOf = ({ child: { pid } }: Process): number => {
  const status = `/proc/${pid}/status`;
  const found = existsSync(status)
    ? /VmRSS:\s+(\d+)/.exec(readFileSync(status, "utf8"))?.[1]
    : execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" });
  return Number(found) * 1024;
};

interface ProcessOptions {
  /** Of the fixture trainer. */
  readonly behaviour?: object;
  /** Interpreter of the real trainer, instead of the fixture. */
  readonly python?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Of the shell's `ulimit`, such as `-f 2048`: beyond so many blocks of 512 bytes writes fail as on a disk that is full. */
  readonly limit?: string;
}

const makeLimitedNode = (folder: string, limit: string): string => {
  const path = join(folder, "node");
  writeFileSync(path, `#!/bin/sh\nulimit ${limit}\nexec "${process.execPath}" "$@"\n`);
  chmodSync(path, 0o755);
  return path;
};

/** The real service as a process of its own, once it listens. */
export const startProcess = async (
  folder: string,
  { behaviour = {}, python, env = {}, limit }: ProcessOptions = {},
): Promise<Process> => {
  const program = python ? `"${python}"` : `"${process.execPath}" "${TRAINER}" '${JSON.stringify(behaviour)}'`;
  const dataDir = join(folder, "data");
  makeModel(join(dataDir, "models", MODEL));
  const node = limit === undefined ? process.execPath : makeLimitedNode(folder, limit);
  const child = spawn(node, [MAIN], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      IMPRINT_DATA_DIR: dataDir,
      IMPRINT_PORT: "0",
      IMPRINT_BASE_MODEL: MODEL,
      IMPRINT_PYTHON: makeInterpreter(folder, program),
      IMPRINT_ENGINE: "transformers",
      IMPRINT_LOG_LEVEL: "silent",
      ...env,
    },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let log = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  const ended = new Promise<readonly [number | null, NodeJS.Signals | null]>((resolve) =>
    child.once("close", (code, signal) => resolve([code, signal])),
  );
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on("data", (text) => {
      const [, found] = /(http:\S+)/.exec(String(text)) ?? [];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => reject(new Error(`the service ended before it listened: ${log}`)));
  });
  const call = (path: string, init?: RequestInit): Promise<Response> => fetch(`${url}${path}`, init);
  const start = async (body: object): Promise<string> => {
    const headers = { "content-type": "application/json" };
    const response = await call("/train/lora", { method: "POST", headers, body: JSON.stringify(body) });
    return ((await response.json()) as { job_id: string }).job_id;
  };
  const logged = () => log.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  return { child, url, ended, fetch: call, start, logged };
};
