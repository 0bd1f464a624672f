import { execFileSync } from "node:child_process";
import { mkdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionSummary } from "@imprint/contracts";
import { expect, onTestFinished, test } from "vitest";
import { findIndexed, indexSessions } from "../../src/sessions/index-table.js";
import { createSessionStore } from "../../src/sessions/store.js";
import { toSummary } from "../../src/sessions/summary.js";
import { openDatabase } from "../../src/storage/open.js";
import { dataPaths, ensureDataPaths } from "../../src/storage/paths.js";
import { inTransaction } from "../../src/storage/transaction.js";
import { makeNative } from "../support/native.js";
import { makeFolder, type Service, startLora, startService } from "../support/service.js";
import { makeSession, putSession } from "../support/session.js";

const listed = async (service: Service, query = ""): Promise<readonly string[]> =>
  (await service.get(`/sessions${query}`)).json().sessions.map(({ session_id }: SessionSummary) => session_id);

const pathOf = ({ dataDir }: Service, name: string): string => join(dataDir, "sessions", name);

/** What lies in the sessions' folder and is no session file. */
const STRAYS: readonly (readonly [name: string, make: (path: string) => void])[] = [
  ["a link to an endless device", (path) => symlinkSync("/dev/zero", path)],
  ["a link to a file", (path) => symlinkSync(path.replace("stray", "fine"), path)],
  ["a pipe", (path) => void execFileSync("mkfifo", [path])],
  ["a folder", (path) => mkdirSync(path)],
];

test.each(STRAYS)("%s is no session: it is not opened, and the others are listed, found and trained on", async (_name, make) => {
  const service = await startService();
  putSession(service.dataDir, "fine");
  make(pathOf(service, "stray.json"));
  expect([await listed(service), await listed(service, "?search=fine")]).toEqual([["fine"], ["fine"]]);
  for (const response of [
    await service.get("/sessions/stray"),
    await service.call({ method: "PATCH", url: "/sessions/stray", payload: { outcome: "success" } }),
    await service.post("/sessions/stray/preview", {}),
  ])
    expect(response.json()).toMatchObject({ code: "SESSION_INVALID", detail: expect.stringContaining("regular file") });
  const failed = await service.ended(await startLora(service, { session_id: "stray" }));
  expect(failed.error).toMatchObject({ code: "SESSION_INVALID" });
  expect((await service.ended(await startLora(service, { session_id: "fine" }))).status).toBe("completed");
});

test("a file beyond session_limit is not read, and the answer names both sizes", async () => {
  const service = await startService({ flags: { session_limit: 4096 } });
  putSession(service.dataDir, "fine");
  writeFileSync(pathOf(service, "huge.json"), "{}");
  truncateSync(pathOf(service, "huge.json"), 5e9);
  expect(await listed(service)).toEqual(["fine"]);
  const { code, detail } = (await service.get("/sessions/huge")).json();
  expect([code, detail]).toEqual(["SESSION_INVALID", expect.stringMatching(/5000000000 bytes.*session_limit.*4096/)]);
});

test("a file that was put there by hand is read once, and again when it was changed", async () => {
  const service = await startService();
  putSession(service.dataDir, "by-hand", makeNative("by-hand"));
  const task = async () => (await service.get("/sessions/by-hand")).json().task as string;
  expect(await task()).toBe("Write a function for by-hand.");
  putSession(service.dataDir, "by-hand", makeNative("by-hand", { task_description: "Fix the gate." }));
  expect([await task(), await listed(service, "?search=gate")]).toEqual(["Fix the gate.", ["by-hand"]]);
});

test("an imported session whose file was changed by hand is shown and trained on as it is now", async () => {
  const service = await startService();
  const headers = { "content-type": "application/json" };
  await service.call({ method: "POST", url: "/sessions", payload: makeNative("s1"), headers });
  putSession(service.dataDir, "s1", makeSession("s1", { outcome: "failure" }));
  expect((await service.get("/sessions/s1")).json().outcome).toBe("failure");
  const refused = await service.ended(await startLora(service, { session_id: "s1" }));
  expect(refused.error).toMatchObject({ code: "SESSION_UNSUCCESSFUL" });
});

/** A session store without a service, and what it logs. */
const makeStore = () => {
  const paths = dataPaths(makeFolder());
  ensureDataPaths(paths);
  const database = openDatabase({ path: paths.database });
  onTestFinished(() => database.destroy());
  const said: string[] = [];
  const warn = (_fields: object, message: string): void => void said.push(message);
  const log = { info: () => {}, warn, error: () => {} };
  const sessions = createSessionStore({ database, paths, limit: 1e6, log, now: () => new Date() });
  onTestFinished(() => sessions.close());
  return { sessions, database, paths, said };
};

test("the log names once what is not read, and again when it has another fault", async () => {
  const { sessions, paths, said } = makeStore();
  mkdirSync(join(paths.sessions, "folder.json"));
  putSession(paths.root, "torn", "{");
  for (let round = 0; round < 3; round += 1) await sessions.list({ limit: 10 });
  expect(said.sort()).toEqual([expect.stringContaining("session folder"), expect.stringContaining("session torn")]);
  putSession(paths.root, "torn", JSON.stringify({ schema_version: 2, source: {} }));
  await sessions.list({ limit: 10 });
  expect([said.length, said.at(-1)]).toEqual([3, expect.stringContaining("newer Imprint")]);
});

test("a session that an older Imprint indexed is read once, and stays an imported one where it stood", async () => {
  const { sessions, database, paths } = makeStore();
  for (const id of ["first", "second"]) {
    putSession(paths.root, id);
    const { mtime } = statSync(join(paths.sessions, `${id}.json`));
    const summary = await toSummary(makeSession(id), mtime.toISOString());
    await inTransaction(database, (db) => indexSessions(db, [{ summary, fingerprint: null, byHand: false }]));
  }
  await sessions.summary("first");
  const known = await inTransaction(database, (db) => findIndexed(db, ["first"]));
  expect(known.get("first")).toMatchObject({ fingerprint: expect.any(String), byHand: false });
  expect((await sessions.list({ limit: 10 })).sessions.map(({ session_id }) => session_id)).toEqual(["second", "first"]);
});
