import type { Database, Session } from "./schema.js";

/** One transaction from its first use to its end. The first end wins: a commit after a rollback is refused. */
export interface UnitOfWork {
  /** The transaction, begun at the first call. */
  readonly session: () => Promise<Session>;
  /** Runs once the transaction is committed, never otherwise. */
  readonly afterCommit: (action: () => Promise<void>) => void;
  /** @throws the database's error; the transaction is rolled back then */
  readonly commit: () => Promise<void>;
  readonly rollback: () => Promise<void>;
}

/** A unit of work that opens its transaction lazily: one that is never asked for costs nothing. */
export const createUnitOfWork = (database: Database): UnitOfWork => {
  let begun: ReturnType<typeof begin> | null = null;
  let state: "open" | "committed" | "rolled back" = "open";
  const actions: (() => Promise<void>)[] = [];

  const begin = () => database.startTransaction().execute();

  return {
    session: async () => {
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

/** Runs background work in one transaction: committed when `work` returns, rolled back when it throws. */
export const withSession = async <T>(database: Database, work: (session: Session) => Promise<T>): Promise<T> => {
  const unit = createUnitOfWork(database);
  try {
    const result = await work(await unit.session());
    await unit.commit();
    return result;
  } catch (error) {
    await unit.rollback();
    throw error;
  }
};
