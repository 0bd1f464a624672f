import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { CommandError } from "../../errors.js";
import type { Sandbox, SandboxEnd, SandboxRequest } from "../sandbox.js";
import { inGroup, makeGroup } from "./group.js";
import { environment, limited, ownFiles, ownPath, SHARED_MEMORY_MB, SOCKET, tasksOf, visible, withOwnFiles } from "./inside.js";
import { beginningOf, inheritedFiles } from "./processes.js";
import { supervise } from "./supervise.js";

/** Not root's: programs refuse to work as root, and others take it for more than it is there. */
const USER = { uid: 1000, gid: 1000 };
const END_MS = 10;
/** The file descriptor on which bwrap tells of its processes. */
const STATUS = 3;

/** Arguments of bwrap. `own`: a folder with the sandbox's own files, by their names. */
export function bubblewrapArguments(request: SandboxRequest, own: string): readonly string[] {
  const { readOnly, links } = visible(request);
  const { workspace, limits, port } = request;
  const tmpfs = (megabytes: number, place: string): readonly string[] => [
    "--size",
    String(megabytes * 2 ** 20),
    "--tmpfs",
    place,
  ];
  const bound = (from: string, to = from): readonly string[] => ["--ro-bind", from, to];
  return [
    ...["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session", "--cap-drop", "ALL"],
    ...["--uid", String(USER.uid), "--gid", String(USER.gid), "--hostname", "sandbox", "--json-status-fd", String(STATUS)],
    ...["--proc", "/proc", "--dev", "/dev", ...tmpfs(SHARED_MEMORY_MB, "/dev/shm"), ...tmpfs(limits.fileMb, "/tmp")],
    ...["--dir", "/run", "--symlink", "../tmp", "/var/tmp"],
    ...Object.entries(links).flatMap(([place, target]) => ["--symlink", target, place]),
    ...readOnly.flatMap((place) => bound(place)),
    ...Object.keys(ownFiles(USER)).flatMap((place) => bound(ownPath(own, place), place)),
    ...(port === null ? [] : bound(ownPath(own, SOCKET), SOCKET)),
    // What bwrap makes to bind all this to is of memory, and could be filled.
    ...["--bind", workspace, workspace, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", workspace, "--"],
    ...limited(request, tasksOf(request)),
  ];
}

interface Status {
  readonly "child-pid"?: number;
  readonly "exit-code"?: number;
}

async function runIn(command: readonly [string, ...string[]], request: SandboxRequest): Promise<SandboxEnd> {
  const [program, ...args] = command;
  const nothing = openSync("/dev/null", "r");
  const stdio: (number | "ignore" | "pipe")[] = ["ignore", "pipe", "pipe", "pipe"];
  for (const fd of inheritedFiles()) stdio[fd] ??= nothing;
  const child: ChildProcess = spawn(program, args, {
    cwd: "/",
    env: environment(request.env),
    stdio: Array.from(stdio, (one) => one ?? "ignore"),
  });
  closeSync(nothing);
  let told = "";
  let init: { readonly pid: number; readonly began: string | null } | null = null;
  let ran = false;
  let isUnwanted = false;
  child.stdio[STATUS]?.on("data", (chunk) => {
    told += chunk;
    const lines = told.split("\n");
    told = lines.pop() ?? "";
    for (const status of lines.map((line) => JSON.parse(line) as Status)) {
      const pid = status["child-pid"];
      if (pid !== undefined) init ??= { pid, began: beginningOf(pid) };
      if (isUnwanted) kill();
      ran ||= status["exit-code"] !== undefined;
    }
  });
  const runs = (): boolean => init !== null && init.began !== null && beginningOf(init.pid) === init.began;
  const kill = (): void => {
    isUnwanted = true; // what has not begun is ended when it does
    // The kernel ends a pid namespace with its init, and bwrap ends with that.
    if (init !== null && runs()) process.kill(init.pid, "SIGKILL");
  };
  const gone = async (): Promise<void> => {
    for (; runs(); await setTimeout(END_MS)) kill();
  };
  const end = await supervise({ child, root: () => init?.pid ?? null, kill, gone }, request);
  if (end.stopped === null && !ran) throw new CommandError(`bubblewrap did not start the command: ${end.stderr.trim()}`);
  return end;
}

/** The sandbox that bubblewrap makes, `program`. */
export const bubblewrap = (program: string): Sandbox => ({
  name: "bubblewrap",
  run: (request) =>
    withOwnFiles(request, USER, async (own) => {
      const group = await makeGroup(path.basename(own), tasksOf(request));
      const command = inGroup(group, [program, ...bubblewrapArguments(request, own)]);
      return runIn(command, request).finally(() => group && rmdir(group));
    }),
});
