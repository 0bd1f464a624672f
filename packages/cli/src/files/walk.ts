import { lstat, readdir, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { UsageError } from "../errors.js";

const SKIPPED_FOLDERS = new Set(["node_modules", ".git", ".venv", "__pycache__"]);
/** What recorded sessions are called. */
const SESSION_FILE = /\.(?:jsonl?|traj|jsonl\.zst|zst)$|(?:^|[.-])chat[.-]history.*\.md$/i;

/** OpenHands keeps a file for each event: together they are one session. */
const EVENT_FILE = /^(?:event-)?\d+(?:-.*)?\.json$/;

export interface Candidate {
  readonly path: string;
  /** The files that make up the session, in order, where `path` is their folder. */
  readonly parts?: readonly string[];
  /** True when the user named this very file: then it must be a session. */
  readonly named: boolean;
}

const contains = (root: string, target: string): boolean => target === root || target.startsWith(root + path.sep);

async function inFolder(folder: string, root: string, seen: Set<string>): Promise<Candidate[]> {
  const real = await realpath(folder);
  if (seen.has(real)) return [];
  seen.add(real);
  const names = (await readdir(folder)).sort();
  if (path.basename(real) === "events" && names.length > 0 && names.every((name) => EVENT_FILE.test(name))) {
    const parts = names.toSorted((left, right) => left.localeCompare(right, "en", { numeric: true }));
    return [{ path: folder, named: false, parts: parts.map((name) => path.join(folder, name)) }];
  }
  const found: Candidate[] = [];
  for (const name of names) {
    const entry = path.join(folder, name);
    const target = await realpath(entry).catch(() => null);
    // A link that leads out of the folder, or nowhere.
    if (target === null || !contains(root, target)) continue;
    const about = await stat(target);
    if (about.isDirectory()) {
      if (!SKIPPED_FOLDERS.has(name)) found.push(...(await inFolder(entry, root, seen)));
    } else if (about.isFile() && SESSION_FILE.test(name) && !seen.has(target)) {
      seen.add(target);
      found.push({ path: entry, named: false });
    }
  }
  return found;
}

/**
 * The files that a command was pointed at: named ones as they are, folders walked in order of names.
 * Throws a UsageError, before anything is read, when a path is neither.
 */
export async function walk(paths: readonly string[]): Promise<readonly Candidate[]> {
  const checked = await Promise.all(
    paths.map(async (given) => {
      const about = await stat(given).catch((error: NodeJS.ErrnoException) => error);
      if (about instanceof Error) {
        const broken = await lstat(given).then(
          () => true,
          () => false,
        );
        throw new UsageError(
          `${given}: ${about.code === "ENOENT" ? (broken ? "the link leads nowhere" : "there is no such file or folder") : about.message}`,
        );
      }
      if (!about.isFile() && !about.isDirectory()) throw new UsageError(`${given} is neither a file nor a folder`);
      return { given, folder: about.isDirectory() };
    }),
  );
  const seen = new Set<string>();
  const found: Candidate[] = [];
  for (const { given, folder } of checked) {
    if (folder) found.push(...(await inFolder(given, await realpath(given), seen)));
    else found.push({ path: given, named: true });
  }
  return found;
}
