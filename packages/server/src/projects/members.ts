import type { SessionSummary } from "@imprint/contracts";
import { ImprintError } from "../common/error.js";
import type { SessionStore } from "../sessions/store.js";
import type { Member } from "./choose.js";
import type { MemberRow } from "./rows.js";

/** What a token is taken for where no tokenizer is asked: a budget need not be exact. */
const CHARACTERS_PER_TOKEN = 4;

type Sessions = Pick<SessionStore, "require" | "summary" | "touched">;

/** A project's session as it is stored now, read again where it has changed. */
const look = async (
  project: string,
  summary: SessionSummary,
  known: MemberRow | undefined,
  sessions: Sessions,
): Promise<MemberRow> => {
  const { session_id, sha256, created_at } = summary;
  if (known?.sha256 === sha256) return known;
  const { startedAt, content, opening, characters } = await sessions.touched(session_id);
  return { project, session_id, sha256, content, opening, characters, at: startedAt ?? created_at };
};

/** What an adapter said teaches the next one nothing, and a test on it proves nothing: a project passes it over. */
const isTrainable = ({ own, outcome, assistant_turns, trainable_turns }: SessionSummary, includeUnsuccessful: boolean): boolean =>
  own !== true && assistant_turns > 0 && trainable_turns !== 0 && (includeUnsuccessful || outcome !== "failure");

export interface MembersRequest {
  readonly project: string;
  /** What is stored of its sessions. */
  readonly known: readonly MemberRow[];
  /** Sessions that are to be taken in. */
  readonly add: readonly string[];
  readonly includeUnsuccessful: boolean;
}

/**
 * All sessions of a project that a training can learn from, those included that are to be taken in, and the rows that are to be stored
 * of them. One that was deleted is passed over, unless it is to be taken in.
 * @throws ImprintError SESSION_NOT_FOUND or SESSION_INVALID for one that is to be taken in
 */
export const readMembers = async (
  { project, known, add, includeUnsuccessful }: MembersRequest,
  sessions: Sessions,
): Promise<{ readonly members: readonly Member[]; readonly changed: readonly MemberRow[] }> => {
  await sessions.require(add);
  const before = new Map(known.map((row) => [row.session_id, row]));
  const members: Member[] = [];
  const changed: MemberRow[] = [];
  for (const session_id of new Set([...before.keys(), ...add])) {
    try {
      const summary = await sessions.summary(session_id);
      const row = await look(project, summary, before.get(session_id), sessions);
      if (row !== before.get(session_id)) changed.push(row);
      const { content, opening, at, characters } = row;
      const tokens = Math.ceil(characters / CHARACTERS_PER_TOKEN);
      if (isTrainable(summary, includeUnsuccessful)) members.push({ session_id, content, opening, at, tokens });
    } catch (error) {
      if (!(error instanceof ImprintError) || add.includes(session_id)) throw error;
    }
  }
  return { members, changed };
};
