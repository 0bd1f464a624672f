import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";
import { type Driver, SqliteDialect, type SqliteDialectConfig, SqliteDriver } from "kysely";
import { codeOf } from "../../common/error.js";

const RETRY_MS = 5;

const isBusy = (error: unknown): boolean => codeOf(error)?.startsWith("SQLITE_BUSY") ?? false;

export interface ImmediateDialectConfig extends SqliteDialectConfig {
  /**
   * Runs a statement and finalises it, also when it fails. A prepared BEGIN that met SQLITE_BUSY would stay "in progress" until it is
   * garbage, and make the next COMMIT fail.
   */
  readonly exec: (sql: string) => void;
  readonly inTransaction: () => boolean;
  readonly busyTimeoutMs: number;
}

/**
 * BEGIN IMMEDIATE: a deferred transaction that reads and then writes can fail with BUSY_SNAPSHOT whatever the busy timeout.
 * Waiting happens here and not inside SQLite, whose busy handler would block the event loop. SQLite works on the event loop's
 * thread, so each turn of the loop has one transaction: those of many requests would otherwise be one long turn.
 */
class ImmediateDriver extends SqliteDriver {
  readonly #config: ImmediateDialectConfig;

  constructor(config: ImmediateDialectConfig) {
    super(config);
    this.#config = config;
  }

  override async beginTransaction(): Promise<void> {
    const giveUpAt = performance.now() + this.#config.busyTimeoutMs;
    await turn();
    for (;;) {
      try {
        this.#config.exec("begin immediate");
        return;
      } catch (error) {
        if (!isBusy(error) || performance.now() > giveUpAt) throw error;
        await delay(RETRY_MS);
      }
    }
  }

  /** A full disk makes SQLite roll back by itself; to do it again would be an error that hides the first one. */
  override async rollbackTransaction(): Promise<void> {
    if (this.#config.inTransaction()) this.#config.exec("rollback");
  }
}

export class ImmediateDialect extends SqliteDialect {
  readonly #config: ImmediateDialectConfig;

  constructor(config: ImmediateDialectConfig) {
    super(config);
    this.#config = config;
  }

  override createDriver(): Driver {
    return new ImmediateDriver(this.#config);
  }
}
