import type { Session } from "@imprint/contracts";
import { type Action, actionsOf } from "./actions.js";
import { type Edited, editsOf } from "./edits.js";
import { folderIn, rootIn } from "./places.js";
import { type Seen, seenFiles } from "./seen.js";
import { commandsRun, type Ran } from "./shell-calls.js";
import { type Span, workSpan } from "./work-span.js";

/** What a recording says of the work in a repository. */
export interface Recorded {
  readonly actions: readonly Action[];
  readonly ran: readonly Ran[];
  readonly edits: readonly Edited[];
  readonly seen: readonly Seen[];
  /** What the recording calls the repository's top. */
  readonly root: string;
  /** Where its relative paths begin. */
  readonly folder: string;
  /** The actions that saw the state which it changed first. */
  readonly span: Span;
  /** When those began, in milliseconds since 1970; null where the recording has no time. */
  readonly time: number | null;
}

const STAYS = new Set(["claude-code", "claude-stream"]);

/** When the first message was said from a step on. */
function beganAt({ started_at, steps }: Session, step: number): number | null {
  const later = steps.slice(step).map(({ timestamp }) => timestamp);
  const known = [...(step === 0 ? [started_at] : []), ...later].map((one) => Date.parse(one ?? "")).filter(Number.isFinite);
  return known.length === 0 ? null : known.reduce((first, one) => Math.min(first, one));
}

/** Reads a session; null where none of the files that it names is one of the repository's, `known`. */
export function recordedWork(session: Session, known: ReadonlySet<string>): Recorded | null {
  const { folder: said, format } = session.source;
  const actions = actionsOf(session);
  const texts = actions.flatMap(({ input, output }) => [...Object.values(input).map(String), output]);
  const began = said === undefined ? null : folderIn(texts, said);
  const folder = began ?? "/";
  const ran = commandsRun(actions, { folder, stays: STAYS.has(format) });
  const edits = editsOf(actions, ran);
  const seen = seenFiles(actions, { ran, edits });
  const inputs = actions.flatMap(({ input }) => [input.file_path, input.filePath, input.path]);
  const named = [...inputs, ...[...seen, ...edits.map(({ edit }) => edit)].map(({ path }) => path)]
    .filter((one) => typeof one === "string")
    .map((one) => (one.startsWith("/") || began === null ? one : `${began}/${one}`));
  const entered = ran.map(({ command }) => command.folder).find((one) => one !== "/");
  const root = rootIn(named, known, began) ?? (named.length === 0 ? (began ?? entered ?? "/") : null);
  if (root === null) return null;
  const span = workSpan(ran, edits);
  const time = beganAt(session, span.from === 0 ? 0 : (actions[span.from]?.step ?? 0));
  return { actions, ran, edits, seen, root, folder: began ?? root, span, time };
}
