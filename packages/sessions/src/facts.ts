import { isString, stringOrNull } from "./values/json.js";

/** Where a session was recorded, and who served its model; null where its recording does not say. */
export interface Facts {
  /** The folder that the agent was started in. */
  readonly folder: string | null;
  readonly repository: string | null;
  readonly branch: string | null;
  /** As the agent names it. */
  readonly provider: string | null;
}

/** What a format records of them, whatever it holds there. */
interface Told {
  /** A path, or an address of one. */
  readonly folder?: unknown;
  /** Where the repository comes from: an address, or `owner/name`. */
  readonly remote?: unknown;
  readonly branch?: unknown;
  readonly provider?: unknown;
}

/** Nothing that is longer names a folder or a branch. */
const LONGEST = 1024;
const LOCAL = "file://";
/** Folders that Claude Code makes below a repository, for work beside it. */
const WORKTREE = /[/\\]\.claude[/\\]worktrees[/\\].*$/;
const DRIVE = /^[A-Za-z]:[/\\]*$/;
const ROOT = String.raw`(?:[/~]|[A-Za-z]:[/\\])`;
/** What agents tell their models of the folder: Codex, Claude Code and opencode, Cline. */
const TOLD_FOLDER = new RegExp(
  String.raw`<cwd>(${ROOT}[^<\n]*)</cwd>|\bworking directory: (${ROOT}[^\n]*)|# Current (?:Working|Workspace) Directory \((${ROOT}[^)\n]*)\)`,
  "i",
);

const short = (value: unknown): string | null => {
  const text = isString(value) ? value.trim() : "";
  return text.length > LONGEST ? null : stringOrNull(text);
};

/** The path of an address of a local folder; any other text as it is. */
function pathOf(text: string): string {
  if (!text.startsWith(LOCAL)) return text;
  const path = text.slice(LOCAL.length);
  try {
    return decodeURIComponent(path).replace(/^\/(?=[A-Za-z]:)/, "");
  } catch {
    return path;
  }
}

const lastPart = (text: string, separator: RegExp): string | null =>
  text.split(separator).findLast((part) => part !== "") ?? null;

/** The name at the end of an address, without who may read there: an address without a path has none. */
function remoteName(remote: string): string | null {
  const name = lastPart(remote.replace(/[?#].*$/, "").replace(/(?:\.git)?[/\\]*$/, ""), /[/\\:]/);
  return name?.includes("@") ? null : name;
}

const folderName = (folder: string): string | null =>
  DRIVE.test(folder) ? null : lastPart(folder.replace(WORKTREE, ""), /[/\\]/);

/** What a recording tells, as facts: every format reads them here. */
export function factsOf({ folder, remote, branch, provider }: Told): Facts {
  const at = short(folder);
  const path = at === null ? null : pathOf(at);
  const [from, name] = [short(remote), short(branch)];
  return {
    folder: path,
    repository: (from && remoteName(from)) ?? (path && folderName(path)),
    // What git says where no branch is checked out.
    branch: name === "HEAD" ? null : name,
    provider: short(provider),
  };
}

/** Facts with the folder that is known of a recording beside its text, where it says none itself. */
export const inFolder = (facts: Facts, folder: string | undefined): Facts => {
  if (folder === undefined || facts.folder !== null) return facts;
  const known = factsOf({ folder });
  return { ...facts, folder: known.folder, repository: facts.repository ?? known.repository };
};

/** The folder that an agent told its model of, where a recording holds it in no other place. */
export function toldFolder(text: string): string | null {
  const [, ...found] = TOLD_FOLDER.exec(text) ?? [];
  return short(found.find((one) => one !== undefined));
}
