import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import Libsql from "libsql";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../../src/storage/open.js";
import { OtherSchemaError } from "../../../src/storage/sqlite/migrate.js";
import { inTransaction } from "../../../src/storage/transaction.js";
import { makeFolder } from "../../support/service.js";

const makePath = () => join(makeFolder(), "registry.db");

const schemaOf = (path: string): unknown => {
  const file = new Libsql(path);
  const schema = [
    file.prepare("select name, sql from sqlite_master order by name").all(),
    file.prepare("pragma user_version").all(),
  ];
  file.close();
  return schema;
};

test("a registry that is opened again keeps its tables and what is in them", async () => {
  const path = makePath();
  const first = openDatabase({ path });
  await first.insertInto("sessions").values({ session_id: "kept", summary: "{}" }).execute();
  await first.destroy();
  const before = schemaOf(path);
  const again = openDatabase({ path });
  onTestFinished(() => again.destroy());
  expect(await again.selectFrom("sessions").select("session_id").execute()).toEqual([{ session_id: "kept" }]);
  expect(schemaOf(path)).toEqual(before);
});

test("tables that cannot all be made are not made at all", () => {
  const path = makePath();
  const file = new Libsql(path);
  file.exec("create table uploads (id integer)");
  file.close();
  const before = schemaOf(path);
  expect(() => openDatabase({ path })).toThrow();
  expect(schemaOf(path)).toEqual(before);
});

test.each([3, 10, 16])("a registry of schema %i is refused and left alone", async (version) => {
  const path = makePath();
  await openDatabase({ path }).destroy();
  const file = new Libsql(path);
  file.exec(`pragma user_version = ${version}`);
  file.close();
  const before = schemaOf(path);
  expect(() => openDatabase({ path })).toThrow(OtherSchemaError);
  expect(() => openDatabase({ path })).toThrow(`schema version ${version}, and this Imprint knows 15`);
  expect(schemaOf(path)).toEqual(before);
});

test.each([
  ["of an unknown version", "pragma user_version = 99"],
  ["without a version that has tables", "create table adapters (id integer)"],
])("a database %s is refused to the byte as it was", (_what, statement) => {
  const path = makePath();
  const file = new Libsql(path);
  file.exec("create table others (id integer)");
  file.exec(statement);
  file.close();
  const before = readFileSync(path);
  expect(() => openDatabase({ path })).toThrow(OtherSchemaError);
  expect(readFileSync(path).equals(before)).toBe(true);
  expect(readdirSync(dirname(path))).toEqual(["registry.db"]);
});

test("a registry of schema 11 becomes one of 15, with all that is in it, and the tables of a new one", async () => {
  const path = makePath();
  await openDatabase({ path }).destroy();
  const current = schemaOf(path);
  const file = new Libsql(path);
  file.exec("alter table adapters drop column served; alter table adapters drop column tasks");
  file.exec("drop index sessions_by_time; drop index sessions_by_repository");
  for (const name of ["folder", "repository", "branch", "model", "recorded_at"])
    file.exec(`alter table sessions drop column ${name}`);
  file.exec("create index sessions_by_time on sessions (by_hand, stored_at)");
  const summary = JSON.stringify({ repository: "shop", ended_at: "2026-03-01T00:00:00.000Z" });
  file.exec(
    `insert into sessions (session_id, summary, fingerprint, stored_at) values ('told', '${summary}', 'f', '2026-05-01')`,
  );
  file.exec("insert into sessions (session_id, summary, fingerprint, stored_at) values ('silent', '{}', 'f', '2026-05-02')");
  file.exec("pragma user_version = 11");
  file.close();
  const database = openDatabase({ path });
  onTestFinished(() => database.destroy());
  expect(schemaOf(path)).toEqual(current);

  const copy = join(dirname(path), "registry-11.db");
  const kept = new Libsql(copy);
  onTestFinished(() => void kept.close());
  expect(kept.prepare("pragma user_version").all()).toEqual([{ user_version: 11 }]);
  expect(kept.prepare("select session_id, fingerprint from sessions order by session_id").all()).toEqual([
    { session_id: "silent", fingerprint: "f" },
    { session_id: "told", fingerprint: "f" },
  ]);
  expect(statSync(copy).mode & 0o777).toBe(0o600);

  const rows = database.selectFrom("sessions").select(["session_id", "repository", "recorded_at", "fingerprint"]);
  expect(await rows.orderBy("recorded_at").execute()).toEqual([
    { session_id: "told", repository: "shop", recorded_at: "2026-03-01T00:00:00.000Z", fingerprint: null },
    { session_id: "silent", repository: null, recorded_at: "2026-05-02", fingerprint: null },
  ]);
});

test("an older registry that cannot be copied is left as it was", async () => {
  const path = makePath();
  await openDatabase({ path }).destroy();
  const file = new Libsql(path);
  file.exec("pragma user_version = 14");
  file.close();
  mkdirSync(join(dirname(path), "registry-14.db")); // a copy does not take a folder's place
  expect(() => openDatabase({ path })).toThrow("EISDIR");
  const again = new Libsql(path);
  onTestFinished(() => void again.close());
  expect(again.prepare("pragma user_version").all()).toEqual([{ user_version: 14 }]);
  expect(readdirSync(dirname(path)).filter((name) => name.includes(".tmp"))).toEqual([]);
});

test("commits are durable: WAL, synchronous FULL, foreign keys", async () => {
  const { sql } = await import("kysely");
  const database = openDatabase({ path: makePath() });
  onTestFinished(() => database.destroy());
  const pragma = async (name: string) => Object.values((await sql.raw(`pragma ${name}`).execute(database)).rows[0] as object)[0];
  expect(await pragma("journal_mode")).toBe("wal");
  expect(await pragma("synchronous")).toBe(2);
  expect(await pragma("foreign_keys")).toBe(1);
});

test("a second process that writes makes transactions wait, not fail", async () => {
  const path = makePath();
  const database = openDatabase({ path });
  onTestFinished(() => database.destroy());
  const holder = spawn(process.execPath, [
    "--input-type=module",
    "-e",
    `import Libsql from "libsql"; const file = new Libsql(${JSON.stringify(path)}); file.exec("begin immediate");
     file.exec("insert into sessions (session_id, summary) values ('theirs', '{}')"); process.stdout.write("holding");
     process.stdin.once("data", () => { file.exec("commit"); process.exit(); });`,
  ]);
  await new Promise((resolve) => holder.stdout.once("data", resolve));
  let done = false;
  const ours = inTransaction(database, (session) =>
    session.insertInto("sessions").values({ session_id: "ours", summary: "{}" }).execute(),
  ).then(() => {
    done = true;
  });
  // The event loop runs on while the transaction waits.
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(done).toBe(false);
  holder.stdin.write("go");
  await ours;
  const rows = await database.selectFrom("sessions").select("session_id").orderBy("session_id").execute();
  expect(rows.map((row) => row.session_id)).toEqual(["ours", "theirs"]);
});
