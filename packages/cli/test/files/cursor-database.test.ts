import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { importSessions } from "@imprint/sessions";
import Libsql from "libsql";
import { expect, it, onTestFinished } from "vitest";
import { sourcesOf } from "../../src/files/recorded.js";
import { walk } from "../../src/files/walk.js";

const TABLES = `
  create table ItemTable (key text unique on conflict replace, value blob);
  create table cursorDiskKV (key text unique on conflict replace, value blob);
`;

/** A database that Cursor has open, with these rows. */
async function database(rows: Readonly<Record<string, unknown>>, tables = TABLES): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "imprint-cursor-"));
  const file = path.join(folder, "state.vscdb");
  const db = new Libsql(file);
  onTestFinished(async () => {
    db.close();
    await rm(folder, { recursive: true, force: true });
  });
  db.exec("pragma journal_mode = wal");
  db.exec(tables);
  db.exec("pragma wal_checkpoint(truncate)");
  for (const [key, value] of Object.entries(rows))
    db.prepare("insert into cursorDiskKV values (?, ?)").run([
      key,
      typeof value === "string" || value === null ? value : Buffer.from(JSON.stringify(value)),
    ]);
  return file;
}

const header = (...ids: readonly string[]): object => ({ fullConversationHeadersOnly: ids.map((bubbleId) => ({ bubbleId })) });
const tool = {
  name: "read_file",
  toolCallId: "c1",
  status: "completed",
  rawArgs: '{"path":"table.py"}',
  result: '{"contents":"START = 6"}',
};

it("reads each of Cursor's conversations, in its order and without what the editor shows", async () => {
  const file = await database({
    "composerData:one": {
      composerId: "one",
      _v: 10,
      createdAt: 1_790_000_000_000,
      lastUpdatedAt: 1_790_000_009_000,
      originalFileStates: { "/work/table.py": "x" },
      ...header("b9", "b1", "b2"),
    },
    "bubbleId:one:b1": { bubbleId: "b1", type: 2, text: "", toolFormerData: tool, relevantFiles: ["x"] },
    "bubbleId:one:b2": { bubbleId: "b2", type: 2, text: "START has to be 0." },
    "bubbleId:one:b9": { bubbleId: "b9", type: 1, text: "Start the table at midnight." },
    "bubbleId:one2:b1": { bubbleId: "b1", type: 1, text: "of another" },
    "composerData:two": { composerId: "two", conversation: [{ bubbleId: "b1", type: 1, text: "Hi." }] },
    "composerData:unnamed": { composerId: "unnamed", createdAt: 1_790_000_000_000 },
    "bubbleId:unnamed:b1": { bubbleId: "b1", type: 1, text: "Ho." },
    "composerData:empty": JSON.stringify({ composerId: "empty", name: "Öd", ...header() }),
    "composerData:damaged": "{",
    "composerData:gone": null,
  });
  const { candidates } = await walk([path.dirname(file)]);
  expect(candidates.map((one) => path.basename(one.path))).toEqual(["state.vscdb#one", "state.vscdb#two", "state.vscdb#unnamed"]);
  expect(candidates[0]).toMatchObject({ named: false, modified: 1_790_000_009_000 });
  const read = await Promise.all(candidates.map(async (one) => (await importSessions(sourcesOf(one))).sessions[0]));
  expect(read).toMatchObject([
    {
      session_id: "one",
      started_at: "2026-09-21T14:13:20.000Z",
      source: { format: "cursor", format_version: "10" },
      steps: [
        { source: "user", text: "Start the table at midnight." },
        { tool_calls: [{ name: "read_file" }], observations: [{ content: "START = 6" }] },
        { text: "START has to be 0." },
      ],
    },
    { session_id: "two", steps: [{ text: "Hi." }] },
    { session_id: "unnamed", steps: [{ text: "Ho." }] },
  ]);
  expect([...(candidates[0]?.lines?.() ?? [])].join("")).not.toContain("originalFileStates");
});

it("counts a damaged message, and loses none around it", async () => {
  const file = await database({
    "composerData:one": { composerId: "one", ...header("b1", "b2") },
    "bubbleId:one:b1": { bubbleId: "b1", type: 1, text: "Hi." },
    "bubbleId:one:b2": '{"bubbleId":\n"b2"',
  });
  const [candidate] = (await walk([file])).candidates;
  const imported = candidate && (await importSessions(sourcesOf(candidate)));
  expect(imported).toMatchObject({ bad_lines: 1, counts: { user_turns: 1 }, dropped: [{ reason: "missing message", count: 1 }] });
});

it("says what VS Code's database of the same name is, where it is named, and passes it by in a folder", async () => {
  const file = await database({}, "create table ItemTable (key text, value blob)");
  expect((await walk([path.dirname(file)])).candidates).toEqual([]);
  const [candidate] = (await walk([file])).candidates;
  const read = async () => candidate && importSessions(sourcesOf(candidate));
  await expect(read()).rejects.toThrow(
    "state.vscdb is a database of VS Code, which Imprint does not read; bring the chats beside it",
  );
});

it("knows Cursor's database by its tables where it is named, whatever it is called", async () => {
  const file = await database({
    "composerData:one": { composerId: "one", ...header("b1") },
    "bubbleId:one:b1": { bubbleId: "b1", type: 1, text: "Hi." },
  });
  const copy = path.join(path.dirname(file), "backup.db");
  await copyFile(file, copy);
  await copyFile(`${file}-wal`, `${copy}-wal`);
  expect((await walk([copy])).candidates.map((one) => path.basename(one.path))).toEqual(["backup.db#one"]);
});
