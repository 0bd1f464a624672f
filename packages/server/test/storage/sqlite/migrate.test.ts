import { spawn } from "node:child_process";
import { join } from "node:path";
import Libsql from "libsql";
import { expect, onTestFinished, test } from "vitest";
import { importedIds } from "../../../src/sessions/index-table.js";
import { openDatabase } from "../../../src/storage/open.js";
import { SchemaTooNewError } from "../../../src/storage/schema-too-new.js";
import { MIGRATIONS } from "../../../src/storage/sqlite/migrations/index.js";
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

test.each(MIGRATIONS.map((_migration, version) => version))("a registry of schema %i becomes the newest", async (version) => {
  const [path, fresh] = [makePath(), makePath()];
  await openDatabase({ path, migrations: MIGRATIONS.slice(0, version) }).destroy();
  await openDatabase({ path }).destroy();
  await openDatabase({ path: fresh }).destroy();
  expect(schemaOf(path)).toEqual(schemaOf(fresh));
});

test("sessions that were indexed before there was a search are found by it", async () => {
  const path = makePath();
  const old = openDatabase({ path, migrations: MIGRATIONS.slice(0, 6) });
  const summary = { session_id: "s1", format: "codex", outcome: "failure", task: "Fix the GATE." };
  await inTransaction(old, (db) =>
    db
      .insertInto("sessions")
      .values({ session_id: "s1", summary: JSON.stringify(summary) })
      .execute(),
  );
  await old.destroy();
  const database = openDatabase({ path });
  onTestFinished(() => database.destroy());
  const find = (...words: string[]) => inTransaction(database, (db) => importedIds(db, { words }));
  expect([await find("gate", "codex"), await find("s1", "failure"), await find("door")]).toEqual([["s1"], ["s1"], []]);
});

test("a step that fails leaves the old schema", async () => {
  const path = makePath();
  await openDatabase({ path }).destroy();
  const before = schemaOf(path);
  const broken = { name: "003-broken", statements: ["create table half (id integer)", "create table adapters (id integer)"] };
  expect(() => openDatabase({ path, migrations: [...MIGRATIONS, broken] })).toThrow();
  expect(schemaOf(path)).toEqual(before);
  await openDatabase({ path }).destroy();
});

test("a registry of a newer Imprint is refused and left alone", async () => {
  const path = makePath();
  const next = { name: "003-next", statements: ["create table next (id integer)"] };
  await openDatabase({ path, migrations: [...MIGRATIONS, next] }).destroy();
  const before = schemaOf(path);
  expect(() => openDatabase({ path })).toThrow(SchemaTooNewError);
  expect(schemaOf(path)).toEqual(before);
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
