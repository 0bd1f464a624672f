import { SESSION_SCHEMA_VERSION } from "@imprint/contracts";
import { expect, test } from "vitest";
import {
  migrateSession,
  SESSION_MIGRATIONS,
  SessionTooNewError,
  type StoredDocument,
} from "../../src/sessions/migrate-session.js";
import { readSession } from "../../src/sessions/read.js";
import { makeFolder } from "../support/service.js";
import { makeSession, putSession } from "../support/session.js";

const renamed = ({ label, ...rest }: StoredDocument) => ({ ...rest, outcome: label });
const counted = (document: StoredDocument) => ({ ...document, bad_lines: 0 });

test("a document of an older version takes every step from there on", () => {
  const migrations = [renamed, counted];
  expect(migrateSession({ schema_version: 1, label: "success" }, migrations)).toEqual({
    schema_version: 3,
    outcome: "success",
    bad_lines: 0,
  });
  expect(migrateSession({ schema_version: 2, outcome: "failure" }, migrations)).toEqual({
    schema_version: 3,
    outcome: "failure",
    bad_lines: 0,
  });
  expect(() => migrateSession({ schema_version: 4 }, migrations)).toThrow(SessionTooNewError);
});

test("there is a step to every version that sessions had", () => {
  expect(SESSION_MIGRATIONS).toHaveLength(SESSION_SCHEMA_VERSION - 1);
});

test("a stored session of a newer Imprint is refused, and says so", async () => {
  const dataDir = makeFolder();
  putSession(dataDir, "s", JSON.stringify({ ...makeSession("s"), schema_version: 99, colour: "green" }));
  const reading = readSession({ folder: `${dataDir}/sessions`, sessionId: "s", limit: 1e6 });
  await expect(reading).rejects.toMatchObject({
    code: "SESSION_INVALID",
    message: expect.stringContaining("use a newer Imprint"),
  });
});
