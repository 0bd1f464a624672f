import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { realpathSync } from "node:fs";
import { CommandError } from "../../errors.js";
import type { Sandbox, SandboxRequest } from "../sandbox.js";
import { environment, limited, ownFiles, ownPath, SHARED_MEMORY_MB, SOCKET, type User, visible, withOwnFiles } from "./inside.js";
import { supervise } from "./supervise.js";

type Engine = "podman" | "docker";

/** An image without any file: a container shows this machine's own programs, as bubblewrap does. */
const IMAGE = "imprint-sandbox:empty";
const EMPTY_TAR = Buffer.alloc(1024);

const mount = (from: string, to: string, ...options: readonly string[]): readonly string[] => {
  const fields = ["type=bind", `src=${from}`, `dst=${to}`, ...options];
  // A line of CSV.
  return ["--mount", fields.map((field) => (/[",]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(",")];
};

interface Made extends User {
  readonly engine: Engine;
  readonly name: string;
  /** A folder with the sandbox's own files, by their names. */
  readonly own: string;
}

/** Arguments of podman or docker. Values of the request's environment stand in the client's own, where no list of processes shows them. */
export function containerArguments(request: SandboxRequest, { engine, name, own, ...user }: Made): readonly string[] {
  const { workspace, limits, port, env = {} } = request;
  const { readOnly, links } = visible(request);
  const common = Object.entries(environment(undefined)).filter(([variable]) => !Object.hasOwn(env, variable));
  return [
    ...["run", "--rm", "--name", name, "--network", "none", "--read-only", "--hostname", "sandbox", "--pull", "never"],
    ...["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--security-opt", "label=disable"],
    ...["--user", `${user.uid}:${user.gid}`, ...(engine === "podman" && user.uid !== 0 ? ["--userns", "keep-id"] : [])],
    ...["--pids-limit", String(limits.processes), "--memory", `${limits.memoryMb}m`, "--memory-swap", `${limits.memoryMb}m`],
    ...["--shm-size", `${SHARED_MEMORY_MB}m`, "--tmpfs", `/tmp:rw,exec,nosuid,nodev,mode=1777,size=${limits.fileMb}m`],
    ...readOnly.flatMap((place) => mount(place, place, "readonly")),
    ...Object.keys(links).flatMap((place) => mount(realpathSync(place), place, "readonly")),
    ...Object.keys(ownFiles(user)).flatMap((place) => mount(ownPath(own, place), place, "readonly")),
    ...(port === null ? [] : mount(ownPath(own, SOCKET), SOCKET, "readonly")),
    ...[...mount(workspace, workspace), "--workdir", workspace],
    ...common.flatMap(([variable, value]) => ["--env", `${variable}=${value}`]),
    ...Object.keys(env).flatMap((variable) => ["--env", variable]),
    ...[IMAGE, ...limited(request)],
  ];
}

const ask = (program: string, args: readonly string[], input?: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = execFile(program, args, (error, _stdout, stderr) =>
      error ? reject(new CommandError(stderr.trim())) : resolve(),
    );
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input);
  });

async function makeImage(program: string): Promise<void> {
  await ask(program, ["info"]);
  const isHere = await ask(program, ["image", "inspect", IMAGE]).then(
    () => true,
    () => false,
  );
  if (!isHere) await ask(program, ["import", "-", IMAGE], EMPTY_TAR);
}

/** How both say that no command was run, and that the kernel's bound of memory ended one. */
const NOT_RUN = 125;
const KILLED = 137;

/** The sandbox that a container makes; it is given the program's place. */
export const container =
  (engine: Engine) =>
  (program: string): Sandbox => ({
    name: engine,
    run: async (request) => {
      await makeImage(program);
      const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
      return withOwnFiles(request, user, async (own) => {
        const name = `imprint-${randomUUID()}`;
        const child = spawn(program, containerArguments(request, { engine, name, own, ...user }), {
          env: { ...process.env, ...request.env },
          stdio: ["ignore", "pipe", "pipe"],
        });
        // It is gone already where it ended by itself.
        const remove = (): Promise<void> => ask(program, ["rm", "--force", name]).catch(() => undefined);
        const kill = (): void => void remove().then(() => child.kill("SIGKILL"));
        const end = await supervise({ child, root: () => null, kill, gone: remove }, request);
        if (end.code === NOT_RUN) throw new CommandError(`${engine} did not start the command: ${end.stderr.trim()}`);
        return end.code === KILLED ? { ...end, code: null, stopped: "memory" } : end;
      });
    },
  });
