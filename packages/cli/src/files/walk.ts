import type { Stats } from "node:fs";
import { lstat, readdir, readFile, realpath, stat } from "node:fs/promises";
import path from "node:path";
import type { Outcome } from "@imprint/contracts";
import { groupFiles, isForeignPath, isSessionPath, rewardVerdict, type Verdict, verdictOf } from "@imprint/sessions";
import { UsageError } from "../errors.js";
import type { Candidate } from "./candidate.js";
import { isDatabase, isSqlite, sessionsInDatabase } from "./database.js";
import { folderBeside } from "./folder-beside.js";

/** The trial whose agent wrote a file: Harbor keeps what agents write in `<trial>/agent`. */
function trialOf(file: string): string | null {
  const parts = path.resolve(file).split(path.sep);
  const at = parts.lastIndexOf("agent");
  return at > 0 && at < parts.length - 1 ? parts.slice(0, at).join(path.sep) : null;
}

const textOf = (file: string): Promise<string | null> => readFile(file, "utf8").catch(() => null);

function judged(text: string | null): Verdict | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? verdictOf({ ...value }) : rewardVerdict(value);
  } catch {
    return null;
  }
}

/** How a session ended by the reward that Harbor's verifier gave its trial; undefined where the file is of none, or was not judged. */
async function harborOutcome(file: string): Promise<Outcome | undefined> {
  const trial = trialOf(file);
  if (trial === null) return undefined;
  for (const place of ["result.json", "verifier/reward.json", "verifier/reward.txt"]) {
    const outcome = judged(await textOf(path.join(trial, place)))?.outcome ?? "unknown";
    if (outcome !== "unknown") return outcome;
  }
  return undefined;
}

const SKIPPED_FOLDERS = new Set(["node_modules", ".git", ".venv", "__pycache__", "tool-results"]);

export interface Walked {
  readonly candidates: readonly Candidate[];
  /** Links that were not followed, and why. */
  readonly links: readonly { readonly path: string; readonly reason: string }[];
}

interface Found {
  readonly shown: string;
  readonly real: string;
  readonly size: number;
  readonly modified: number;
}

const isCandidate = (file: string): boolean => isSessionPath(path.basename(file)) || isDatabase(file) || isForeignPath(file);

/** The sessions of a database, one by one; any other file as it is, with how it ended and where, where that stands beside it. Throws a UsageError for a database that was named and cannot be read. */
async function opened(candidate: Candidate): Promise<readonly Candidate[]> {
  const { path: file, named, size, modified } = candidate;
  if (!isDatabase(file) && !(named && (await isSqlite(file)))) {
    const outcome = await harborOutcome(file);
    const folder = await folderBeside(file);
    return [{ ...candidate, ...(outcome && { outcome }), ...(folder !== null && { folder }) }];
  }
  // What was written last may stand beside the database yet.
  const written = await statOf(`${file}-wal`);
  const newest = { size: size + (written?.size ?? 0), modified: Math.max(modified, written?.mtimeMs ?? 0) };
  const sessions = await sessionsInDatabase(file, newest).catch((error: Error) => {
    if (!named) return [candidate];
    throw new UsageError(`${file} cannot be read: ${error.message}`);
  });
  // A database that was named and holds none is refused as what it is.
  return sessions.length === 0 && named ? [candidate] : sessions;
}

const contains = (root: string, target: string): boolean => target === root || target.startsWith(root + path.sep);

/** Null when it went away meanwhile. */
const statOf = (file: string) => stat(file).catch(() => null);

interface Walk {
  readonly root: string;
  readonly seen: Set<string>;
  readonly found: Found[];
  readonly links: { readonly path: string; readonly reason: string }[];
}

async function inFolder(folder: string, walk: Walk): Promise<void> {
  const { root, seen, found, links } = walk;
  const real = await realpath(folder);
  if (seen.has(real)) return;
  seen.add(real);
  for (const entry of (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const { name } = entry;
    const shown = path.join(folder, name);
    const isLink = entry.isSymbolicLink();
    const target = isLink ? await realpath(shown).catch(() => null) : path.join(real, name);
    const about = target === null ? null : await statOf(target);
    if (target === null || about === null) {
      if (isLink && isCandidate(shown)) links.push({ path: shown, reason: "the link leads nowhere" });
    } else if (!contains(root, target)) {
      if (about.isDirectory() || isCandidate(shown))
        links.push({ path: shown, reason: "the link leads out of the folder and is not followed" });
    } else if (about.isDirectory()) {
      if (!SKIPPED_FOLDERS.has(name)) await inFolder(shown, walk);
    } else if (about.isFile() && isCandidate(shown) && !seen.has(target)) {
      seen.add(target);
      found.push({ shown, real: target, size: about.size, modified: about.mtimeMs });
    }
  }
}

/** Files that form one session together become one candidate. */
function grouped(found: readonly Found[]): Candidate[] {
  const byPath = new Map(found.map((file) => [file.real, file]));
  return groupFiles([...byPath.keys()]).map(({ paths }) => {
    const files = paths.flatMap((one) => byPath.get(one) ?? []);
    const [first] = files;
    const parts = files.map(({ shown }) => shown).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    return {
      path: files.length === 1 ? (first?.shown ?? "") : path.dirname(parts[0] ?? ""),
      ...(files.length === 1 ? {} : { parts }),
      named: false,
      size: files.reduce((sum, { size }) => sum + size, 0),
      modified: Math.max(...files.map(({ modified }) => modified)),
    };
  });
}

const missing = async (given: string, error: NodeJS.ErrnoException): Promise<UsageError> => {
  if (error.code !== "ENOENT") return new UsageError(`${given}: ${error.message}`);
  const isLink = await lstat(given).then(
    () => true,
    () => false,
  );
  return new UsageError(`${given}: ${isLink ? "the link leads nowhere" : "there is no such file or folder"}`);
};

/**
 * The files that a command was pointed at: named ones as they are, folders walked in order of names.
 * Throws a UsageError, before anything is read, when a path is neither.
 */
export async function walk(paths: readonly string[]): Promise<Walked> {
  const checked: { readonly given: string; readonly about: Stats }[] = [];
  for (const given of paths) {
    const about = await stat(given).catch((error: NodeJS.ErrnoException) => error);
    if (about instanceof Error) throw await missing(given, about);
    if (!about.isFile() && !about.isDirectory()) throw new UsageError(`${given} is neither a file nor a folder`);
    checked.push({ given, about });
  }
  const seen = new Set<string>();
  const links: Walk["links"] = [];
  const candidates: Candidate[] = [];
  for (const { given, about } of checked) {
    if (about.isFile()) {
      candidates.push({ path: given, named: true, size: about.size, modified: about.mtimeMs });
      continue;
    }
    const found: Found[] = [];
    await inFolder(given, { root: await realpath(given), seen, found, links });
    candidates.push(...grouped(found));
  }
  return { candidates: (await Promise.all(candidates.map(opened))).flat(), links };
}
