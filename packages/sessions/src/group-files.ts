/** The files that make up one session, by their paths. */
export interface FileGroup {
  /** The folder, or the only file. */
  readonly name: string;
  readonly paths: readonly string[];
}

const RECORDED = /\.(?:jsonl|ndjson|json|traj)(?:\.(?:gz|zst))?$|(?:^|[/\\.])chat[.-]history[^/\\]*\.md$/i;
const SKIPPED_FOLDER = /(?:^|[/\\])(?:node_modules|\.git|tool-results)(?:[/\\]|$)/;
/** One file per event: V1 names them `event-00000-<uuid>.json`, V0 `0.json`. */
const EVENT = /^(.*?)[/\\]?events[/\\](?:event-\d+-[^/\\]+|\d+)\.json$/;
const BASE_STATE = /^(.*?)[/\\]?base_state\.json$/;

/** Whether a file found while walking a folder may be a recorded session. Files that are named one by one are always tried. */
export const isSessionPath = (path: string): boolean => RECORDED.test(path) && !SKIPPED_FOLDER.test(path);

/**
 * Which files form one session: an OpenHands conversation is a folder, every other session is one file (a Claude Code
 * sub-agent's file is a session of its own). Groups stand in the order of their first path.
 */
export function groupFiles(paths: readonly string[]): FileGroup[] {
  const folders = new Set(paths.flatMap((path) => EVENT.exec(path)?.[1] ?? []));
  const groups = new Map<string, { name: string; paths: string[] }>();
  for (const path of paths) {
    const folder = EVENT.exec(path)?.[1] ?? BASE_STATE.exec(path)?.[1];
    const isPart = folder !== undefined && folders.has(folder);
    const key = isPart ? `folder ${folder}` : `file ${path}`;
    const group = groups.get(key) ?? { name: isPart ? folder || "." : path, paths: [] };
    group.paths.push(path);
    groups.set(key, group);
  }
  return [...groups.values()];
}
