import type { Action } from "./actions.js";
import type { Edited } from "./edits.js";
import type { Ran } from "./shell-calls.js";

/** Lines of a file as the agent saw them before it changed the file: that they stand at a line, or anywhere one behind the other. */
export interface Seen {
  readonly path: string;
  readonly lines: readonly string[];
  /** The number of the first; null where it is not known. */
  readonly from: number | null;
  /** The place of the action that showed it. */
  readonly at: number;
}

const READS = /^(?:read|read_file|view|view_file|open_file)$/i;
/** A line of what Claude Code's and opencode's readers print. */
const NUMBERED = /^\s*0*(\d+)(?:→|\t|\| |: )(.*)$/;
/** What readers without numbers put behind a part of a file. */
const NOTE = /\n*\[[^\]\n]*\]\s*$/;
const LONGEST = 1_500; // characters of a line that readers print whole
const FEWEST = 3;

const plain = (text: string): readonly string[] => text.replaceAll("\r", "").replace(/\n$/, "").split("\n");

type Shown = Omit<Seen, "at">;

function numbered(output: string): Pick<Seen, "lines" | "from"> | null {
  const found = plain(output).flatMap((line) => {
    const [, number, text] = NUMBERED.exec(line) ?? [];
    return number === undefined || text === undefined ? [] : [{ number: Number(number), text }];
  });
  const [first] = found;
  const run = found.filter(({ number }, at) => first !== undefined && number === first.number + at);
  return first === undefined || run.length === 0 ? null : { lines: run.map(({ text }) => text), from: first.number };
}

/** What a call that does nothing but show a file printed. */
function shown({ command: { words, folder, into } }: Ran, { output }: Action): Shown | null {
  const [program, ...args] = words.map(({ text }) => text);
  const path = args.at(-1);
  if (path === undefined || into !== null || args.filter((one) => !/^-|^[\d,]+p?$|^\d+$/.test(one)).length !== 1) return null;
  const at = path.startsWith("/") ? path : `${folder}/${path}`;
  const body = output
    .replace(/^[\s\S]*?<output>\n?/, "")
    .replace(/<\/output>[\s\S]*$/, "")
    .replace(/^[\s\S]*?\nOutput:\n/, "");
  if (program === "nl" || (args.includes("-n") && program === "cat")) {
    const found = numbered(body);
    return found && { path: at, ...found };
  }
  return program === "cat" || program === "sed" || program === "head" ? { path: at, lines: plain(body), from: null } : null;
}

/** The files that a session read, each until it was changed. What an edit replaced was seen as well. */
export function seenFiles(
  actions: readonly Action[],
  { ran, edits }: { ran: readonly Ran[]; edits: readonly Edited[] },
): readonly Seen[] {
  const changed = new Map<string, number>();
  for (const { edit, at } of edits) if (!changed.has(edit.path)) changed.set(edit.path, at);
  const found = actions.flatMap((action, at): readonly Seen[] => {
    if (action.failed) return [];
    const path = [action.input.file_path, action.input.filePath, action.input.path].find((one) => typeof one === "string");
    const bare = { lines: plain(action.output.replace(NOTE, "")), from: null };
    const read = READS.test(action.name) && path !== undefined ? (numbered(action.output) ?? bare) : null;
    const own = ran.filter((one) => one.at === at);
    const shows = own.filter(({ command }) => command.words[0]?.text !== "cd");
    const [only] = shows.length === 1 ? shows : [];
    const text = only && (action.exit ?? 0) === 0 ? shown(only, action) : null;
    const firsts = edits.filter((one) => one.at === at && one.edit.kind === "replace" && changed.get(one.edit.path) === at);
    const replaced = firsts
      .slice(0, 1)
      .flatMap(({ edit }) => (edit.kind === "replace" ? [{ path: edit.path, lines: plain(edit.old), from: null }] : []));
    return [...(read && path ? [{ path, ...read }] : []), ...(text ? [text] : []), ...replaced].map((seen) => ({ ...seen, at }));
  });
  return found
    .filter(({ path, at }) => at <= (changed.get(path) ?? at))
    .filter(({ lines, from }) => from !== null || lines.join("").trim().length >= FEWEST);
}

/** Lines that say nothing: cut ones, and those that hold what was redacted. */
const isUnsure = (line: string): boolean => line.length > LONGEST || /REDACTED|\[truncated\]|<redacted/i.test(line);

/** Whether a file's text holds what was seen of it. */
export function holds(text: string, { lines, from }: Pick<Seen, "lines" | "from">): boolean {
  const all = plain(text);
  if (from !== null)
    return lines.every(
      (line, at) => isUnsure(line) || all[from - 1 + at] === line || (line === "" && all[from - 1 + at] === undefined),
    );
  if (!lines.some(isUnsure)) return all.join("\n").includes(lines.join("\n").replace(/\n+$/, ""));
  const sure = lines.filter((line) => !isUnsure(line));
  return sure.every((line) => text.includes(line));
}
