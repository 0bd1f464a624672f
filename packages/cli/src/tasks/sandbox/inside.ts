import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { inTemporary } from "../folders.js";
import { foldersOf } from "../on-path.js";
import type { SandboxRequest } from "../sandbox.js";
import { INSIDE, openRelay } from "./relay.js";

/** All of the system that a sandbox shows, besides its own /proc, /dev and /tmp: programs and what they load. No home, no /var, no /run. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store"];

/** Of /etc what programs need: where libraries and certificates are, names of services and kinds of files. No user, no key, no password. */
const ETC = [
  ...["alternatives", "ca-certificates", "fonts", "java", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "magic"],
  ...["mime.types", "os-release", "pki/ca-trust/extracted", "pki/tls/certs", "protocols", "services"],
  ...["ssl/cert.pem", "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone"],
].map((name) => `/etc/${name}`);

const HOME = "/tmp/home";
/** What leads to the one port that may be reached. */
export const SOCKET = "/etc/imprint.sock";
export const SHARED_MEMORY_MB = 64;

/** Whom the command takes itself for, by name never the person who runs it. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Small files of /etc that a sandbox has of its own, with their texts. */
export const ownFiles = ({ uid, gid }: User): Readonly<Record<string, string>> => ({
  "/etc/passwd": `agent:x:${uid}:${gid}::${HOME}:/bin/sh\n`,
  "/etc/group": `agent:x:${gid}:\n`,
  "/etc/hosts": "127.0.0.1 localhost\n",
  "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
});

/** Where a file of the sandbox's own is outside. */
export const ownPath = (own: string, place: string): string => path.join(own, path.basename(place));

/** Makes the folder of a sandbox's own files, with the socket where the request may reach a port, for as long as `act` runs. */
export const withOwnFiles = <T>({ port }: SandboxRequest, user: User, act: (own: string) => Promise<T>): Promise<T> =>
  inTemporary(async (own) => {
    for (const [place, text] of Object.entries(ownFiles(user))) await writeFile(ownPath(own, place), text);
    if (port === null) return act(own);
    const relay = await openRelay(ownPath(own, SOCKET), port);
    return act(own).finally(() => relay.close());
  });

const isBelow = (place: string, folder: string): boolean => place === folder || place.startsWith(`${folder}/`);

/** Where Node is: all of its installation's programs where it is one of its own, as version managers make them in a home. */
function nodePlaces(node: string): readonly string[] {
  if (SYSTEM.some((folder) => isBelow(node, folder))) return [];
  const bin = path.dirname(node);
  const modules = path.join(bin, "../lib/node_modules");
  return path.basename(bin) === "bin" && existsSync(modules) ? [bin, modules] : [node];
}

/** The Python that a virtual environment was made with, where it is one of a version manager's: its programs are links to it. */
function pythonOf(folder: string): readonly string[] {
  const python = path.join(folder, "bin/python");
  if (!existsSync(path.join(folder, "pyvenv.cfg")) || !existsSync(python)) return [];
  const real = realpathSync(python);
  return [folder, ...SYSTEM].some((shown) => isBelow(real, shown)) ? [] : [path.dirname(path.dirname(real))];
}

/** What Go and Rust fetched into a home, by the variables that say where: the command has no network. Cargo keeps tokens beside it. */
const FETCHED = [
  ["GOMODCACHE", "go/pkg/mod", ["."]],
  ["CARGO_HOME", ".cargo", ["bin", "registry", "git"]],
  ["RUSTUP_HOME", ".rustup", ["."]],
] as const;

/** The variables with their folders, and what of these is shown. */
function fetched(): { readonly variables: Readonly<Record<string, string>>; readonly shown: readonly string[] } {
  const found = FETCHED.map(([variable, folder, parts]) => {
    const place = process.env[variable] || path.join(homedir(), folder);
    return { entry: [variable, place] as const, shown: parts.map((part) => path.join(place, part)).filter(existsSync) };
  }).filter(({ shown }) => shown.length > 0);
  return { variables: Object.fromEntries(found.map(({ entry }) => entry)), shown: found.flatMap(({ shown }) => shown) };
}

export interface Visible {
  /** Folders and files that may be read, at the same paths. */
  readonly readOnly: readonly string[];
  /** Links by their paths: where a system keeps /bin in /usr. */
  readonly links: Readonly<Record<string, string>>;
}

/** What of this machine the request's command sees, besides its workspace. */
export function visible(request: SandboxRequest, node = realpathSync(process.execPath)): Visible {
  const { readable = [] } = request;
  const here = [...SYSTEM, ...ETC].filter((place) => existsSync(place));
  const isLink = (place: string): boolean => path.dirname(place) === "/" && lstatSync(place).isSymbolicLink();
  return {
    readOnly: [
      ...here.filter((place) => !isLink(place)),
      ...nodePlaces(node),
      ...fetched().shown,
      ...readable,
      ...readable.flatMap(pythonOf),
    ],
    links: Object.fromEntries(here.filter(isLink).map((place) => [place, readlinkSync(place)])),
  };
}

const PATH = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** The whole environment of the command. Its PATH is the user's as far as the sandbox shows that, then the system's. */
export function environment(env: SandboxRequest["env"], node = realpathSync(process.execPath)): Readonly<Record<string, string>> {
  const { variables, shown } = fetched();
  const folders = foldersOf(process.env).filter((folder) => [...SYSTEM, ...shown].some((place) => isBelow(folder, place)));
  return { PATH: [...new Set([path.dirname(node), ...folders, ...PATH])].join(":"), HOME, TMPDIR: "/tmp", ...variables, ...env };
}

/** Threads count as well where the kernel keeps the bound: what it lets through is counted from outside. */
export const tasksOf = ({ limits }: SandboxRequest): number => limits.processes * 8;

/** The command with what must hold in its own process: limits that the kernel keeps, and the relay where it may reach a port. */
export function limited(request: SandboxRequest, tasks: number | null = null): readonly [string, ...string[]] {
  const { command, port, limits } = request;
  const relayed =
    port === null ? command : [realpathSync(process.execPath), "-e", INSIDE, "--", String(port), SOCKET, ...command];
  // Of files in units of 512 bytes; a dump of memory is one as well. Of processes dash says -p, and bash -u.
  const processes = tasks === null ? "" : `ulimit -p ${tasks} 2>/dev/null || ulimit -u ${tasks};`;
  const bounds = `ulimit -c 0; ulimit -f ${limits.fileMb * 2048}; ${processes}`;
  return ["/bin/sh", "-c", `${bounds} mkdir -p "$HOME"; exec "$@"`, "sh", ...relayed];
}
