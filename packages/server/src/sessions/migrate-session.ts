import { SESSION_SCHEMA_VERSION } from "@imprint/contracts";

export interface StoredDocument {
  readonly schema_version: number;
  readonly [field: string]: unknown;
}

/** Steps of the stored session's shape: the n-th (from 0) turns version n + 1 into n + 2. Released steps are never edited. */
export const SESSION_MIGRATIONS: readonly ((document: StoredDocument) => Omit<StoredDocument, "schema_version">)[] = [];

/** The session was stored by a newer Imprint: this one would misread it. */
export class SessionTooNewError extends Error {
  override readonly name = "SessionTooNewError";

  constructor(found: number) {
    super(`it has schema version ${found}, and this Imprint knows ${SESSION_SCHEMA_VERSION}: use a newer Imprint`);
  }
}

/**
 * A stored document in the newest shape; the file itself stays as it is.
 * @throws SessionTooNewError
 */
export const migrateSession = (document: StoredDocument, migrations = SESSION_MIGRATIONS): StoredDocument => {
  const newest = migrations.length + 1;
  const { schema_version: version } = document;
  if (Number.isInteger(version) && version > newest) throw new SessionTooNewError(version);
  if (!Number.isInteger(version) || version < 1) return document;
  return migrations
    .slice(version - 1)
    .reduce<StoredDocument>((old, step) => ({ ...step(old), schema_version: old.schema_version + 1 }), document);
};
