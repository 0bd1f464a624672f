import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { importSessions } from "@imprint/sessions";
import Libsql from "libsql";
import { expect, it, onTestFinished, vi } from "vitest";
import { UsageError } from "../../src/errors.js";
import { sourcesOf } from "../../src/files/recorded.js";
import { walk } from "../../src/files/walk.js";

/** The columns that are read of opencode 1.18's tables, and one that is not. */
const TABLES = `
  create table session (id text, project_id text, title text, version text, revert text, time_created integer, time_updated integer);
  create table message (id text, session_id text, time_created integer, time_updated integer, data text);
  create table part (id text, message_id text, session_id text, time_created integer, time_updated integer, data text);
`;
const WHEN = Date.parse("2026-11-24T12:00:00Z");

/** A database that was made by statements. */
async function databaseOf(...statements: readonly string[]): Promise<{ readonly folder: string; readonly file: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), "imprint-opencode-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, "opencode.db");
  const db = new Libsql(file);
  for (const statement of statements) db.exec(statement);
  db.close();
  return { folder, file };
}

const BOTH = readFileSync(new URL("./cases/opencode-2-beside-1.sql", import.meta.url), "utf8");
const sessionsIn = async (folder: string): Promise<readonly string[]> =>
  (await walk([folder])).candidates.map((one) => path.basename(one.path));

/** A database that its program has open, as opencode keeps it. */
async function database() {
  const folder = await mkdtemp(path.join(tmpdir(), "imprint-opencode-"));
  const file = path.join(folder, "opencode.db");
  const db = new Libsql(file);
  onTestFinished(async () => {
    db.close();
    await rm(folder, { recursive: true, force: true });
  });
  db.exec("pragma journal_mode = wal");
  db.exec(TABLES);
  const insert = (table: string, ...values: readonly unknown[]): void =>
    void db.prepare(`insert into ${table} values (${values.map(() => "?").join(", ")})`).run([...values]);
  const session = (id: string) => insert("session", id, "p1", "A title", "1.18.33", null, WHEN, WHEN);
  const message = (id: string, of: string, data: object, parts: readonly object[]): void => {
    insert("message", id, of, WHEN, WHEN, JSON.stringify({ ...data, time: { created: WHEN } }));
    for (const [at, part] of parts.entries()) insert("part", `prt_${id}_${at}`, id, of, WHEN, WHEN, JSON.stringify(part));
  };
  return { folder, file, session, message };
}

const READ = {
  type: "tool",
  tool: "read",
  callID: "c1",
  state: { status: "completed", input: { filePath: "a" }, output: "gates" },
};

const readBack = async (folder: string) =>
  Promise.all((await walk([folder])).candidates.map(async (one) => (await importSessions(sourcesOf(one))).sessions[0]));

it("reads each session of opencode's database, written to it or beside it yet, and leaves nothing there or in the folder for temporary files", async () => {
  const { folder, session, message } = await database();
  const temporary = path.join(folder, "temporary");
  mkdirSync(temporary);
  vi.stubEnv("TMPDIR", temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  session("ses_1");
  message("msg_1", "ses_1", { role: "user" }, [{ type: "text", text: "Look." }]);
  message("msg_2", "ses_1", { role: "assistant", modelID: "m-1" }, [
    { type: "step-start" },
    READ,
    { type: "text", text: "Done." },
  ]);
  session("ses_2");
  message("msg_3", "ses_2", { role: "user" }, [{ type: "text", text: "Again." }]);
  message("msg_4", "ses_2", { role: "assistant", modelID: "m-1" }, [{ type: "text", text: "Yes." }]);
  session("ses_empty");
  const bytes = () =>
    readdirSync(folder)
      .filter((name) => name.startsWith("opencode"))
      .map((name) => [name, readFileSync(path.join(folder, name), "base64")]);
  const before = bytes();
  expect((await walk([folder])).candidates.map((one) => path.basename(one.path))).toEqual([
    "opencode.db#ses_1",
    "opencode.db#ses_2",
  ]);
  expect(await readBack(folder)).toMatchObject([
    {
      session_id: "ses_1",
      started_at: "2026-11-24T12:00:00.000Z",
      source: { format: "opencode", format_version: "1.18.33", agent: "opencode", model: "m-1" },
      steps: [{ text: "Look." }, { text: "Done.", tool_calls: [{ name: "read" }], observations: [{ content: "gates" }] }],
    },
    { session_id: "ses_2", steps: [{ text: "Again." }, { text: "Yes." }] },
  ]);
  expect(bytes()).toEqual(before);
  expect(readdirSync(temporary)).toEqual([]);
});

it("sees what was added since it looked", async () => {
  const { folder, session, message } = await database();
  session("ses_1");
  message("msg_1", "ses_1", { role: "user" }, [{ type: "text", text: "Look." }]);
  expect((await readBack(folder))[0]?.steps).toHaveLength(1);
  message("msg_2", "ses_1", { role: "assistant" }, [{ type: "text", text: "Done." }]);
  expect((await readBack(folder))[0]?.steps).toHaveLength(2);
});

it("says of a file that only has the name what is wrong with it", async () => {
  const { folder } = await database();
  const file = path.join(folder, "opencode-dev.db");
  writeFileSync(file, "no database at all, though long enough to be one".repeat(100));
  await expect(walk([file])).rejects.toThrow(UsageError);
  expect((await walk([folder])).candidates.map((one) => path.basename(one.path))).toEqual(["opencode-dev.db"]);
  await expect(walk([file])).rejects.toThrow(/opencode-dev\.db cannot be read: file is not a database/);
});

it("reads the sessions of opencode 2, and those of 1 that it did not take over", async () => {
  const { folder } = await databaseOf(BOTH);
  expect(await sessionsIn(folder)).toEqual(["opencode.db#ses_new1", "opencode.db#ses_old1"]);
  const [fresh, old] = await readBack(folder);
  expect(fresh).toMatchObject({
    session_id: "ses_new1",
    source: { format: "opencode", format_version: "2.0.12", model: "m" },
    steps: [
      { text: "Rename the gauge file to harbour.py." },
      { text: "I move it.", tool_calls: [{ id: "call_1" }], observations: [{ content: "moved" }] },
      { text: "harbour.py is in place." },
    ],
  });
  expect(old?.steps).toHaveLength(2);
});

it("takes a session that both generations have from the newer one, with its parent, and a fork's copies as context", async () => {
  const message = (id: string, of: string, seq: number, created: number, text: string): string =>
    `insert into session_message values('${id}','${of}','user',${seq},${created},${created},'{"text":"${text}","time":{"created":${created}}}')`;
  const session = (id: string, columns: string, values: string): string =>
    `insert into session_v2(id,project_id,slug,directory,version,time_created,time_updated,${columns}) values('${id}','p','s','d','2.0.12',5000,5000,${values})`;
  const { folder } = await databaseOf(
    BOTH,
    session("ses_old1", "parent_id", "'ses_new1'"),
    message("n1", "ses_old1", 0, 5000, "Newer"),
    session("ses_fork", "fork_session_id", "'ses_new1'"),
    message("n3", "ses_fork", 1, 6000, "Own"),
    message("n2", "ses_fork", 0, 3000, "Copied"),
  );
  const read = await readBack(folder);
  const [, fork, old] = read;
  expect(read).toHaveLength(3);
  expect(old).toMatchObject({ parent: { session_id: "ses_new1", kinship: "sub-agent" }, steps: [{ text: "Newer" }] });
  expect(fork).toMatchObject({
    parent: { session_id: "ses_new1", kinship: "fork" },
    steps: [{ text: "Copied", context_only: "copied" }, { text: "Own" }],
  });
});

it("says of a store of another generation that it is one, beside the sessions that it knows", async () => {
  const { folder, file } = await databaseOf(BOTH, "create table session_v3(id text)", "create table turn(id text)");
  expect(await sessionsIn(folder)).toEqual(["opencode.db#ses_new1", "opencode.db#ses_old1", "opencode.db"]);
  const store = (await walk([file])).candidates.at(-1);
  expect(store?.named).toBe(true);
  const refused = store === undefined ? undefined : importSessions(sourcesOf(store));
  await expect(refused).rejects.toThrow(
    /^opencode\.db holds sessions in tables that Imprint does not know \(session_v3\).*opencode export/,
  );
  const { folder: other } = await databaseOf("create table thread(id text)", "create table entry(id text)");
  const [only] = (await walk([other])).candidates;
  await expect(only && importSessions(sourcesOf(only))).rejects.toThrow(/does not know \(entry, thread\)/);
});
