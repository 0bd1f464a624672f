import type { SessionSummary } from "@imprint/contracts";
import { ImprintError } from "../common/error.js";
import type { KindDeps } from "../kinds/deps.js";
import { inTransaction } from "../storage/transaction.js";
import type { Member } from "./choose.js";
import { type MemberRow, membersOf, putMember } from "./rows.js";

/** What a token is taken for where no tokenizer is asked: a budget need not be exact. */
const CHARACTERS_PER_TOKEN = 4;

type Lent = Pick<KindDeps, "database" | "sessions">;

/** A project's session as it is stored now, read again where it has changed. */
const look = async (
  project: string,
  summary: SessionSummary,
  known: MemberRow | undefined,
  { database, sessions }: Lent,
): Promise<MemberRow> => {
  const { session_id, sha256, created_at } = summary;
  if (known?.sha256 === sha256) return known;
  const { startedAt, content, opening, characters } = await sessions.touched(session_id);
  const row: MemberRow = { project, session_id, sha256, content, opening, characters, at: startedAt ?? created_at };
  await inTransaction(database, (db) => putMember(db, row));
  return row;
};

const isTrainable = ({ outcome, assistant_turns, trainable_turns }: SessionSummary, includeUnsuccessful: boolean): boolean =>
  assistant_turns > 0 && trainable_turns !== 0 && (includeUnsuccessful || outcome !== "failure");

/**
 * Takes sessions into a project, and answers all of its sessions that a training can learn from. One that was deleted is passed over,
 * unless it is to be taken in.
 * @throws ImprintError SESSION_NOT_FOUND or SESSION_INVALID for one that is to be taken in
 */
export const takeMembers = async (
  { project, add, includeUnsuccessful }: { project: string; add: readonly string[]; includeUnsuccessful: boolean },
  lent: Lent,
): Promise<readonly Member[]> => {
  await lent.sessions.require(add);
  const known = new Map((await inTransaction(lent.database, (db) => membersOf(db, project))).map((row) => [row.session_id, row]));
  const members: Member[] = [];
  for (const session_id of new Set([...known.keys(), ...add])) {
    try {
      const summary = await lent.sessions.summary(session_id);
      const { content, opening, at, characters } = await look(project, summary, known.get(session_id), lent);
      const tokens = Math.ceil(characters / CHARACTERS_PER_TOKEN);
      if (isTrainable(summary, includeUnsuccessful)) members.push({ session_id, content, opening, at, tokens });
    } catch (error) {
      if (!(error instanceof ImprintError) || add.includes(session_id)) throw error;
    }
  }
  return members;
};
