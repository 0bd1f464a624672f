import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
} from "kysely";

/** Transactions are as if they came one after the other, as SQLite's do; what cannot be so is a TransactionConflictError. */
class SerializableDriver extends PostgresDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin isolation level serializable"));
  }

  /** Where the connection is lost the server rolls back by itself: to say so would hide the first error. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("rollback")).catch(() => undefined);
  }
}

export class SerializableDialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig;

  constructor(config: PostgresDialectConfig) {
    super(config);
    this.#config = config;
  }

  override createDriver(): Driver {
    return new SerializableDriver(this.#config);
  }
}
