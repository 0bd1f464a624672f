import type { SessionFormat, SessionSummary } from "@imprint/contracts";
import type { Database, Transaction } from "../storage/schema.js";
import { inTransaction } from "../storage/transaction.js";

/** The provider that `imprint launch` gives agents which record one. */
const PROVIDER = "imprint";
/** What agents put before the name of a model that they reach by an API, or by that provider. */
const PREFIX = /^(?:openai|imprint)\//;
/** Agents that record no provider, and are told another name for each model of their vendor's: a base model's is ours. */
const BASE_NAMED: ReadonlySet<SessionFormat> = new Set(["claude-code", "claude-stream"]);

const nameOf = ({ model }: SessionSummary): string => (model ?? "").replace(PREFIX, "");

/** Which of the names an adapter has or had, the latest of a project, or a base model that was trained on. */
const namesAmong = async (db: Transaction, names: readonly string[]) => {
  const adapters = await db
    .selectFrom("adapters")
    .select("adapter_id as name")
    .where("adapter_id", "in", names)
    .unionAll(db.selectFrom("adapter_aliases").select("alias as name").where("alias", "in", names))
    .execute();
  const bases = await db
    .selectFrom("adapters")
    .select("base_model as name")
    .distinct()
    .where("base_model", "in", names)
    .execute();
  const setOf = (rows: readonly { readonly name: string }[]) => new Set(rows.map(({ name }) => name));
  return { adapters: setOf(adapters), bases: setOf(bases) };
};

export interface OwnWords {
  readonly database: Database;
  /** Base models that the service can answer with. */
  readonly baseModels: readonly string[];
}

/**
 * Says of each session whether an adapter or base model of this service wrote it: by the provider that an agent records, by the
 * name of its model, and of the service's own recordings by the adapter that answered. Their words are no lesson, whoever imports them.
 */
export const markOwn = async (
  sessions: readonly SessionSummary[],
  { database, baseModels }: OwnWords,
): Promise<readonly SessionSummary[]> => {
  const names = [...new Set(sessions.map(nameOf))].filter((name) => name !== "");
  const known = await inTransaction(database, (db) => namesAmong(db, names));
  const isBase = (name: string): boolean => known.bases.has(name) || baseModels.includes(name);
  return sessions.map((session) => {
    const name = nameOf(session);
    const isOwn = session.provider === PROVIDER || known.adapters.has(name) || (BASE_NAMED.has(session.format) && isBase(name));
    return isOwn ? { ...session, own: true } : session;
  });
};
