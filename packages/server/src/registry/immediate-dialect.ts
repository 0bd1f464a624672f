import { setTimeout as delay } from "node:timers/promises";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
} from "kysely";

const RETRY_MS = 5;

const isBusy = (error: unknown): boolean =>
  error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY");

/**
 * BEGIN IMMEDIATE: a deferred transaction that reads and then writes can fail with BUSY_SNAPSHOT whatever the busy timeout.
 * Waiting happens here and not inside SQLite, whose busy handler would block the event loop.
 */
class ImmediateDriver extends SqliteDriver {
  readonly #busyTimeoutMs: number;

  constructor(config: SqliteDialectConfig, busyTimeoutMs: number) {
    super(config);
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const giveUpAt = performance.now() + this.#busyTimeoutMs;
    for (;;) {
      try {
        await connection.executeQuery(CompiledQuery.raw("begin immediate"));
        return;
      } catch (error) {
        if (!isBusy(error) || performance.now() > giveUpAt) throw error;
        await delay(RETRY_MS);
      }
    }
  }
}

export class ImmediateDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;
  readonly #busyTimeoutMs: number;

  constructor(config: SqliteDialectConfig, busyTimeoutMs: number) {
    super(config);
    this.#config = config;
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  override createDriver(): Driver {
    return new ImmediateDriver(this.#config, this.#busyTimeoutMs);
  }
}
