/** The files that make up one session, by their paths. */
export interface FileGroup {
  /** The folder, or the file. */
  readonly name: string;
  readonly paths: readonly string[];
}

const RECORDED =
  /\.(?:jsonl|ndjson|json|traj)(?:\.(?:gz|zst))?$|\.parquet$|(?:^|[/\\.])chat[.-]history[^/\\]*\.md$|\.jsonl\.\d{3}$|(?:^|[/\\])raw_transcript(?:\.\d{3})?$/i;
/** What tools keep that is refused by their name: SpecStory's files, the databases of Kiro and, but on the command line, of Goose, Antigravity's conversations. */
const REFUSED =
  /(?:^|[/\\])\d{4}-\d\d-\d\d_\d\d-\d\d[^/\\]*\.md$|\.specstory[/\\]history[/\\][^/\\]+\.md$|\.chat$|(?:^|[/\\])(?:sessions\.db|data\.sqlite3)$|antigravity[\w-]*[/\\]conversations[/\\][^/\\]+\.pb$/i;
const SKIPPED_FOLDER = /(?:^|[/\\])(?:node_modules|\.git|tool-results)(?:[/\\]|$)/;
/** One file per event: V1 names them `event-00000-<uuid>.json`, V0 `0.json`. */
const EVENT = /^(.*?)[/\\]?events[/\\](?:event-\d+-[^/\\]+|\d+)\.json$/;
/** opencode's storage: a file for each session, message and part of a message. */
const STORED = /^(.*?)[/\\]?storage[/\\](session|message|part)[/\\]([^/\\]+)[/\\]([^/\\]+)\.json$/;
/** Entire cuts a long recording between its lines: the second piece of `full.jsonl` is `full.jsonl.001`. */
const PIECE = /^(.*(?:\.jsonl|\braw_transcript))\.\d{3}$/;
const BASE_STATE = /^(.*?)[/\\]?base_state\.json$/;

/** Whether a file found while walking a folder may be a recorded session. Files that are named one by one are always tried. */
export const isSessionPath = (path: string): boolean => RECORDED.test(path) && !SKIPPED_FOLDER.test(path);

/** Whether such a file is a tool's whose recordings are refused by name: then it is tried all the same, so that the tool is named. */
export const isForeignPath = (path: string): boolean => REFUSED.test(path);

/** The folder of an OpenHands conversation that a file is part of; undefined where it is none. */
function openHandsFolders(paths: readonly string[]): (path: string) => string | undefined {
  const folders = new Set(paths.flatMap((path) => EVENT.exec(path)?.[1] ?? []));
  return (path) => {
    const folder = EVENT.exec(path)?.[1] ?? BASE_STATE.exec(path)?.[1];
    return folder !== undefined && folders.has(folder) ? folder || "." : undefined;
  };
}

/** The session that a file of opencode's storage is part of, by the session's folder; undefined where it is none. */
function storedSessions(paths: readonly string[]): (path: string) => string | undefined {
  const stored = (path: string): { kind: string; folder: string; name: string; root: string } | undefined => {
    const [, root = "", kind = "", folder = "", name = ""] = STORED.exec(path) ?? [];
    return kind === "" ? undefined : { root: root === "" ? "storage" : `${root}/storage`, kind, folder, name };
  };
  // A part's path names its message only; the message's path names the session.
  const sessionOf = new Map<string, string>();
  for (const path of paths) {
    const file = stored(path);
    if (file?.kind === "message") sessionOf.set(`${file.root} ${file.name}`, file.folder);
  }
  const sessions = new Set(sessionOf.values());
  return (path) => {
    const file = stored(path);
    if (file === undefined) return undefined;
    const { root, kind, folder, name } = file;
    const session = kind === "part" ? sessionOf.get(`${root} ${folder}`) : kind === "message" ? folder : name;
    return session !== undefined && sessions.has(session) ? `${root}/message/${session}` : undefined;
  };
}

/**
 * Which files form one session: an OpenHands conversation is a folder, a session of opencode's storage is spread over three,
 * every other session is one file (a Claude Code sub-agent's file is a session of its own), or the pieces that it was cut in.
 * Groups stand in the order of their first path.
 */
export function groupFiles(paths: readonly string[]): FileGroup[] {
  const [openHands, stored] = [openHandsFolders(paths), storedSessions(paths)];
  const groups = new Map<string, { name: string; paths: string[] }>();
  for (const path of paths) {
    const folder = openHands(path) ?? stored(path);
    const whole = PIECE.exec(path)?.[1] ?? path;
    const key = folder === undefined ? `file ${whole}` : `folder ${folder}`;
    const group = groups.get(key) ?? { name: folder ?? whole, paths: [] };
    group.paths.push(path);
    groups.set(key, group);
  }
  return [...groups.values()];
}
