import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { importSessions } from "@imprint/sessions";
import Libsql from "libsql";
import { expect, it, onTestFinished } from "vitest";
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

it("reads each session of opencode's database, written to it or beside it yet, and writes nothing there", async () => {
  const { folder, session, message } = await database();
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
  const bytes = () => readdirSync(folder).map((name) => [name, readFileSync(path.join(folder, name), "base64")]);
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
