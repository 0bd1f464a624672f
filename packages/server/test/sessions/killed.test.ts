import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import * as table from "../../src/sessions/index-table.js";
import { createSessionStore } from "../../src/sessions/store.js";
import { openDatabase } from "../../src/storage/open.js";
import { dataPaths, ensureDataPaths } from "../../src/storage/paths.js";
import { makeFolder } from "../support/service.js";

const { indexSessions } = await vi.importActual<typeof table>("../../src/sessions/index-table.js");
vi.mock("../../src/sessions/index-table.js", async (original) => {
  const real = await original<typeof table>();
  return { ...real, indexSessions: vi.fn(real.indexSessions) };
});

const line = (type: "user" | "assistant", uuid: string, parentUuid: string | null, content: string): string =>
  JSON.stringify({
    type,
    uuid,
    parentUuid,
    sessionId: "grows",
    timestamp: `2026-01-01T00:00:0${uuid}.000Z`,
    cwd: "/repo",
    message:
      type === "user" ? { role: type, content } : { role: type, id: `m${uuid}`, content: [{ type: "text", text: content }] },
  });
const LINES = [
  line("user", "1", null, "Mend the parser"),
  line("assistant", "2", "1", "Mended."),
  line("user", "3", "2", "Now its tests"),
  line("assistant", "4", "3", "Written."),
];

vi.setConfig({ testTimeout: 60_000 }); // the importers are loaded first

/** A store on a data directory, and a recording that is brought to it. */
const openStore = (root: string) => {
  const paths = dataPaths(root);
  ensureDataPaths(paths);
  const database = openDatabase({ path: paths.database });
  onTestFinished(() => database.destroy());
  const sessions = createSessionStore({ database, paths, limit: 1e6, log: pino({ level: "silent" }), now: () => new Date() });
  const importFirst = (lines: number) =>
    sessions.import(
      async (folder) => {
        const file = join(folder, "recording.jsonl");
        writeFileSync(file, `${LINES.slice(0, lines).join("\n")}\n`);
        return file;
      },
      { format: "claude-code" },
    );
  const stored = () => readdirSync(paths.sessions).map((name) => [name, readFileSync(join(paths.sessions, name), "utf8")]);
  return { sessions, importFirst, stored };
};

test.each([
  ["new", 4, undefined],
  ["grown", 4, 2],
])(
  "a %s session whose service was killed before its row is listed by the next one as it is, at once",
  async (_what, lines, before) => {
    const [root, killed] = [makeFolder(), makeFolder()];
    const { importFirst } = openStore(root);
    if (before !== undefined) await importFirst(before);
    // The data directory as a kill leaves it: the file is there, and its row is not written.
    vi.mocked(table.indexSessions).mockImplementationOnce(async (...given) => {
      cpSync(root, killed, { recursive: true, preserveTimestamps: true });
      return indexSessions(...given);
    });
    const { result } = await importFirst(lines);
    expect(result.assistant_turns).toBe(2);

    const { sessions } = openStore(killed);
    await sessions.recover(); // what it answers is not begun: nobody waits for it
    const { warnings: _none, sessions: _itself, ...summary } = result;
    for (const query of [{}, { search: "parser" }, { prefix: "gr" }])
      expect(await sessions.list({ limit: 9, ...query })).toEqual({ sessions: [summary], next: null });
    expect(await sessions.summary("grows")).toEqual(summary);
  },
);

test.each([
  ["new", undefined],
  ["grown", 2],
])("a %s session whose row cannot be written changes nothing that is stored", async (_what, before) => {
  const { sessions, importFirst, stored } = openStore(makeFolder());
  if (before !== undefined) await importFirst(before);
  const [files, listed] = [stored(), await sessions.list({ limit: 9 })];
  vi.mocked(table.indexSessions).mockRejectedValueOnce(new Error("the disk is full"));
  await expect(importFirst(4)).rejects.toThrow("the disk is full");
  expect(stored()).toEqual(files);
  expect(await sessions.list({ limit: 9 })).toEqual(listed);
});
