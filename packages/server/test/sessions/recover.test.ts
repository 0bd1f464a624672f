import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ImportResult, Session, SessionList } from "@imprint/contracts";
import Libsql from "libsql";
import { beforeAll, expect, test, vi } from "vitest";
import { makeNative } from "../support/native.js";
import { build, type Process, startProcess } from "../support/process.js";
import { createRandom } from "../support/random.js";
import { makeFolder } from "../support/service.js";
import { makeSession, putSession } from "../support/session.js";

beforeAll(build, 120_000);

const ROUNDS = 25;

const env = { IMPRINT_LOG_LEVEL: "info" };

/** The service once its index is whole. */
const start = async (folder: string): Promise<Process> => {
  const service = await startProcess(folder, { env });
  await vi.waitFor(
    () => {
      if (!service.logged().some(({ msg }) => msg === "the index of the sessions is complete"))
        throw new Error("not complete yet");
    },
    { timeout: 30_000, interval: 20 },
  );
  return service;
};

const stop = async ({ child, ended }: Process, signal: NodeJS.Signals = "SIGTERM"): Promise<void> => {
  child.kill(signal);
  await ended;
};

const put = (folder: string, sessionId: string, at: string, content: string | Session = makeSession(sessionId)): void => {
  putSession(join(folder, "data"), sessionId, content);
  utimesSync(join(folder, "data", "sessions", `${sessionId}.json`), new Date(at), new Date(at));
};

const listed = async (service: Process): Promise<readonly string[]> =>
  ((await (await service.fetch("/sessions?limit=1000")).json()) as SessionList).sessions.map(({ session_id }) => session_id);

const rowsOf = (folder: string): readonly { readonly session_id: string; readonly by_hand: number }[] => {
  const file = new Libsql(join(folder, "data", "registry.db"));
  const rows = file.prepare("select session_id, by_hand from sessions order by session_id").all();
  file.close();
  return rows as { session_id: string; by_hand: number }[];
};

test("the start indexes sessions whose row is missing, in their place by time, and forgets rows whose file is gone", {
  timeout: 60_000,
}, async () => {
  const folder = makeFolder();
  put(folder, "second", "2026-02-01T00:00:00.000Z");
  put(folder, "lost", "2026-02-02T00:00:00.000Z");
  await stop(await start(folder));
  rmSync(join(folder, "data", "sessions", "lost.json"));
  put(folder, "third", "2026-03-01T00:00:00.000Z");
  put(folder, "first", "2026-01-01T00:00:00.000Z");
  put(folder, "by-hand", "2026-01-01T00:00:00.000Z", makeNative("by-hand"));
  put(folder, "damaged", "2026-01-01T00:00:00.000Z", '{"schema_version":1,');
  mkdirSync(join(folder, "data", "sessions", "folder.json"));

  const service = await start(folder);
  expect(rowsOf(folder)).toEqual([
    { session_id: "by-hand", by_hand: 1 },
    { session_id: "first", by_hand: 0 },
    { session_id: "second", by_hand: 0 },
    { session_id: "third", by_hand: 0 },
  ]);
  expect(await listed(service)).toEqual(["by-hand", "third", "second", "first"]);
});

/** A file of conversations that a process reads. */
const recording = (round: number, name: number): string =>
  Array.from({ length: 30 }, (_, at) => {
    const said = (role: string) => ({
      role,
      content: `${round}.${name}.${at} The gate takes the ports 7001 to 7042. `.repeat(40),
    });
    return `${JSON.stringify({ messages: [said("user"), said("assistant")] })}\n`;
  }).join("");

test(`killed at ${ROUNDS} random instants of imports, every acknowledged session is whole, and files and rows are the same`, {
  timeout: 300_000,
}, async () => {
  const folder = makeFolder();
  const random = createRandom(20260102);
  const acknowledged = new Set<string>();
  let took = 0;

  const inspect = (): void => {
    const files = readdirSync(join(folder, "data", "sessions")).map((name) => name.replace(/\.json$/, ""));
    expect(rowsOf(folder)).toEqual(files.sort().map((session_id) => ({ session_id, by_hand: 0 })));
    expect(readdirSync(join(folder, "data", "incoming"))).toEqual([]);
    for (const id of acknowledged) expect(files).toContain(id);
  };

  for (let round = 0; round < ROUNDS; round += 1) {
    const service = await start(folder);
    inspect();
    const upload = async (name: number): Promise<void> => {
      const headers = { "content-type": "application/x-ndjson" };
      const answer = await service.fetch("/sessions", { method: "POST", headers, body: recording(round, name) });
      const { sessions } = (await answer.json()) as ImportResult;
      for (const { session_id } of sessions) acknowledged.add(session_id);
    };
    const begun = performance.now();
    const imports = Promise.allSettled([0, 1, 2].map(upload));
    // The first are waited for: they tell how long imports take here.
    if (round === 0) await imports.then(() => (took = performance.now() - begun));
    else await delay(random() * 1.5 * took);
    await stop(service, "SIGKILL");
    await imports;
  }

  const service = await start(folder);
  inspect();
  for (const id of acknowledged) {
    expect((await service.fetch(`/sessions/${id}`)).status).toBe(200);
    const { steps } = JSON.parse(readFileSync(join(folder, "data", "sessions", `${id}.json`), "utf8")) as Session;
    expect(steps).toHaveLength(2);
  }
  expect(acknowledged.size).toBeGreaterThan(90);
});
