import type { Database, Transaction } from "./schema.js";

/** One transaction from its first use to its end. The first end wins: a commit after a rollback is refused. */
export interface LazyTransaction {
  /** The transaction, begun at the first call. */
  readonly db: () => Promise<Transaction>;
  /** Runs once the transaction is committed, never otherwise. */
  readonly afterCommit: (action: () => Promise<void>) => void;
  /** @throws the database's error; the transaction is rolled back then */
  readonly commit: () => Promise<void>;
  readonly rollback: () => Promise<void>;
}

/** A transaction that begins when it is first asked for: one that never is costs nothing. */
export const createLazyTransaction = (database: Database): LazyTransaction => {
  let begun: ReturnType<typeof begin> | null = null;
  let state: "open" | "committed" | "rolled back" = "open";
  const actions: (() => Promise<void>)[] = [];

  const begin = () => database.startTransaction().execute();

  return {
    db: async () => {
      if (state !== "open") throw new Error(`the transaction is ${state}`);
      begun ??= begin();
      return begun;
    },
    afterCommit: (action) => {
      actions.push(action);
    },
    commit: async () => {
      if (state === "rolled back") throw new Error("the transaction is rolled back");
      if (state === "committed") return;
      state = "committed";
      if (begun) {
        const transaction = await begun;
        try {
          await transaction.commit().execute();
        } catch (error) {
          state = "rolled back";
          await transaction.rollback().execute();
          throw error;
        }
      }
      for (const action of actions) await action();
    },
    rollback: async () => {
      if (state !== "open") return;
      state = "rolled back";
      const transaction = await begun?.catch(() => null);
      await transaction?.rollback().execute();
    },
  };
};

/** Runs work in one transaction: committed when `work` returns, rolled back when it throws or the signal aborts. */
export const inTransaction = async <T>(
  database: Database,
  work: (db: Transaction) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> => {
  signal?.throwIfAborted();
  const unit = createLazyTransaction(database);
  // The connection is free although the work still runs.
  const undo = (): void => void unit.rollback().catch(() => undefined);
  signal?.addEventListener("abort", undo, { once: true });
  try {
    const result = await work(await unit.db());
    signal?.throwIfAborted();
    await unit.commit();
    return result;
  } catch (error) {
    await unit.rollback();
    throw error;
  } finally {
    signal?.removeEventListener("abort", undo);
  }
};
