import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { importSessions } from "@imprint/sessions";
import Libsql from "libsql";
import { expect, it, onTestFinished } from "vitest";
import { sourcesOf } from "../../src/files/recorded.js";
import { walk } from "../../src/files/walk.js";

const RECORDED = readFileSync(new URL("./cases/goose.sql", import.meta.url), "utf8");

/** A database as Goose 1.52 left it, and what `more` changes of it. */
async function database(more = ""): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "imprint-goose-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const db = new Libsql(path.join(folder, "sessions.db"));
  db.exec(`${RECORDED}${more}`);
  db.close();
  return folder;
}

const imported = async (folder: string) =>
  Promise.all((await walk([folder])).candidates.map(async (one) => importSessions(sourcesOf(one))));

it("reads each session of Goose's database in which anything was said, a helper's with whose it is", async () => {
  const folder = await database();
  const { candidates } = await walk([folder]);
  expect(candidates.map((one) => path.basename(one.path))).toEqual(
    ["20261130_1", "20261130_5", "20261130_6"].map((id) => `sessions.db#${id}`),
  );
  expect(candidates.every(({ size, modified }) => size > 0 && modified > Date.UTC(2026, 10, 30))).toBe(true);
  expect((await imported(folder)).flatMap(({ sessions }) => sessions)).toMatchObject([
    {
      session_id: "20261130_1",
      source: { format: "goose", folder: "/srv/gates", model: "m-1", provider: "openai" },
      steps: [
        { text: "Please look." },
        { reasoning: "hm", tool_calls: [{ name: "shell" }], observations: [{ content: "hello" }] },
        { text: "Done 3." },
        { text: "Next:" },
        { tool_calls: [{ name: "shell" }], observations: [{ is_error: true }] },
        { text: "Done 6." },
      ],
    },
    { session_id: "20261130_5", steps: [{}, { tool_calls: [{ name: "delegate" }] }, {}] },
    { session_id: "20261130_6", parent: { session_id: "20261130_5", kinship: "sub-agent" }, steps: [{}, { text: "Answer 23." }] },
  ]);
});

it("does not take another program's sessions and messages for Goose's", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "imprint-goose-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, "crush.db");
  const db = new Libsql(file);
  db.exec("create table sessions (id text); create table messages (id text, session_id text, parts text);");
  db.close();
  await expect(imported(file)).rejects.toThrow("is an SQLite database, which Imprint does not read");
});

it("counts a message that is damaged, and reads the others", async () => {
  const folder = await database(
    "update messages set content_json = '[{' where session_id = '20261130_1' and role = 'assistant' and content_json like '%Done 3%';",
  );
  const [first] = await imported(folder);
  expect([first?.bad_lines, first?.sessions[0]?.steps.length]).toEqual([1, 5]);
});
