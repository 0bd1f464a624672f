import type { EvaluateRequest, SessionSummary } from "@imprint/contracts";
import { ImprintError, ProblemError } from "../../common/error.js";
import type { AdapterRow } from "../../registry/adapters.js";
import type { SessionStore } from "../../sessions/store.js";
import type { HeldOut } from "./held-out.js";

const MOST = 8;
/** Sessions that are read to find those of the same work: the newest stored ones, and the last of the training. */
const READ = 100;
/** Files that two sessions of one repository name both, at least. */
const SHARED_FILES = 2;

type Store = Pick<SessionStore, "list" | "summary" | "touched">;

interface Found {
  readonly session_id: string;
  /** When it was recorded, or stored where the recording does not say. */
  readonly at: string;
  readonly files: readonly string[];
}

const find = async ({ session_id, created_at }: SessionSummary, sessions: Store): Promise<Found> => {
  const { files, startedAt } = await sessions.touched(session_id);
  return { session_id, at: startedAt ?? created_at, files };
};

/** Null for one that is not stored any more, or cannot be read. */
const orNull = async <T>(finding: Promise<T>): Promise<T | null> => {
  try {
    return await finding;
  } catch (error) {
    if (error instanceof ImprintError) return null;
    throw error;
  }
};

const stored = async (ids: Iterable<string>, sessions: Store): Promise<readonly SessionSummary[]> =>
  (await Promise.all([...ids].map((id) => orNull(sessions.summary(id))))).filter((summary) => summary !== null);

const readAll = async (summaries: readonly SessionSummary[], sessions: Store): Promise<readonly Found[]> =>
  (await Promise.all(summaries.map((one) => orNull(find(one, sessions))))).filter((found) => found !== null);

const byTime = (a: Found, b: Found): number => Date.parse(a.at) - Date.parse(b.at);

/** The newest sessions whose calls name files that those of the training name too. */
const ofTheSameWork = async (
  trained: readonly SessionSummary[],
  taken: ReadonlySet<string>,
  sessions: Store,
): Promise<readonly Found[]> => {
  const known = new Set((await readAll(trained.slice(-READ), sessions)).flatMap(({ files }) => files));
  const { sessions: newest } = await sessions.list({ limit: READ });
  const others = newest.filter(
    ({ session_id, own, outcome, trainable_turns }) =>
      own !== true && !taken.has(session_id) && outcome !== "failure" && trainable_turns !== 0,
  );
  return (await readAll(others, sessions))
    .filter(({ files }) => files.filter((file) => known.has(file)).length >= SHARED_FILES)
    .toSorted(byTime)
    .slice(-MOST);
};

export interface Choice {
  /** To test on, oldest first. */
  readonly session_ids: readonly string[];
  /** What the adapter was trained on, as far as it is stored. */
  readonly trained_on: readonly string[];
}

/**
 * Sessions to test an adapter on: those that are named, else those that its training held out and that no sweep chose it by, else
 * the newest others that name the same files.
 * @throws ImprintError SESSION_NOT_FOUND, SESSION_INVALID, SESSION_TRAINED_ON or NOTHING_TO_EVALUATE
 */
export const chooseSessions = async (
  { adapter_id, session_ids }: AdapterRow,
  { session_ids: named }: EvaluateRequest,
  heldOut: HeldOut,
  sessions: Store,
): Promise<Choice> => {
  const trained = session_ids.filter((id) => !heldOut.sessions.has(id));
  const seen = (named ?? []).filter((id) => trained.includes(id));
  if (seen.length > 0)
    throw new ProblemError("SESSION_TRAINED_ON", `The adapter ${adapter_id} was trained on ${seen.join(", ")}: test on others.`, {
      errors: [{ path: "/session_ids", message: `names what the adapter was trained on: ${seen.join(", ")}` }],
    });
  const storedTrained = await stored(trained, sessions);

  const choose = async (): Promise<readonly Found[]> => {
    if (named) return Promise.all(named.map(async (id) => find(await sessions.summary(id), sessions)));
    const kept = heldOut.chose ? [] : await readAll(await stored(heldOut.sessions, sessions), sessions);
    return kept.length > 0 ? kept : ofTheSameWork(storedTrained, new Set(session_ids), sessions);
  };
  const chosen = await choose();
  if (chosen.length === 0)
    throw new ProblemError(
      "NOTHING_TO_EVALUATE",
      `No stored session names the files that those of ${adapter_id} do, except what it was trained on${heldOut.chose ? " or chosen by" : ""}: import a later one.`,
    );
  return {
    session_ids: chosen.toSorted(byTime).map(({ session_id }) => session_id),
    trained_on: storedTrained.map(({ session_id }) => session_id),
  };
};
