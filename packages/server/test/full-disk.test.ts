import { readdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { ImportResult, SessionList } from "@imprint/contracts";
import { beforeAll, expect, test } from "vitest";
import { build, startProcess } from "./support/process.js";
import { makeFolder } from "./support/service.js";

beforeAll(build, 120_000);

const MIB = "-f 2048";
const ERROR_LEVEL = 50;
const words = "x".repeat(2 * 1024 * 1024);

/** A service for which every disk is full once a file has a mebibyte. */
const startFull = async () => {
  const folder = makeFolder();
  const service = await startProcess(folder, { env: { IMPRINT_LOG_LEVEL: "error" }, limit: MIB });
  const inData = (name: string): readonly string[] => readdirSync(join(folder, "data", name));
  const faults = () => service.logged().filter(({ level }) => level >= ERROR_LEVEL);
  return { service, inData, faults };
};

const chat = JSON.stringify({
  messages: [
    { role: "user", content: "hello" },
    { role: "assistant", content: words },
  ],
});

test("an import that fills the disk is 507 for its client, with the cause in the log, and leaves nothing", async () => {
  const { service, inData, faults } = await startFull();
  const headers = { "content-type": "application/x-ndjson" };
  const response = await service.fetch("/sessions", { method: "POST", headers, body: `${chat}\n` });
  expect([response.status, await response.json()]).toMatchObject([507, { code: "DISK_FULL" }]);
  expect([inData("incoming"), inData("sessions")]).toEqual([[], []]);
  expect(faults()).toMatchObject([{ msg: "DISK_FULL", err: { code: "EFBIG" } }]);
});

test("an import that fills the disk of the process that reads it is 507 too, and leaves nothing", async () => {
  const { service, inData, faults } = await startFull();
  const headers = { "content-type": "application/x-ndjson" };
  const response = await service.fetch("/sessions", { method: "POST", headers, body: gzipSync(`${chat}\n`) });
  expect([response.status, await response.json()]).toMatchObject([507, { code: "DISK_FULL" }]);
  expect([inData("incoming"), inData("sessions")]).toEqual([[], []]);
  expect(faults()).toMatchObject([{ msg: "DISK_FULL", err: { code: "EFBIG" } }]);
});

test("a training file that fills the disk is 507 in OpenAI's shape, and leaves nothing", async () => {
  const { service, inData, faults } = await startFull();
  const body = new FormData();
  body.append("purpose", "fine-tune");
  body.append("file", new Blob([`${chat}\n`]), "train.jsonl");
  const response = await service.fetch("/v1/files", { method: "POST", body });
  expect([response.status, await response.json()]).toMatchObject([507, { error: { code: "disk_full", type: "server_error" } }]);
  expect(inData("uploads")).toEqual([]);
  expect(faults()).toMatchObject([{ msg: "DISK_FULL", err: { code: "EFBIG" } }]);
});

test("changes that fill the database's disk are 507, and reads go on", async () => {
  const { service, inData, faults } = await startFull();
  const importOne = (text: string): Promise<Response> => {
    const body = JSON.stringify({
      messages: [
        { role: "user", content: text },
        { role: "assistant", content: "done" },
      ],
    });
    return service.fetch("/sessions", { method: "POST", headers: { "content-type": "application/x-ndjson" }, body: `${body}\n` });
  };
  const { warnings: _none, sessions: _itself, ...first } = (await (await importOne("the first")).json()) as ImportResult;
  let stored = 1;
  let refused: Response | null = null;
  for (let round = 0; round < 500 && refused === null; round += 1) {
    const response = await importOne(`task ${round}`);
    if (response.ok) {
      await response.arrayBuffer();
      stored += 1;
    } else refused = response;
  }
  expect([refused?.status, await refused?.json()]).toMatchObject([507, { code: "DISK_FULL" }]);
  const path = `/sessions/${first.session_id}`;
  const label = (outcome: string): Promise<Response> =>
    service.fetch(path, { method: "PATCH", headers: { "content-type": "application/json" }, body: JSON.stringify({ outcome }) });
  // A label takes less room than an import: a few may still find it.
  let kept: object = first;
  let labelled = await label("failure");
  for (let round = 0; round < 500 && labelled.ok; round += 1) {
    kept = (await labelled.json()) as object;
    labelled = await label(round % 2 === 0 ? "success" : "failure");
  }
  const removed = await service.fetch(path, { method: "DELETE" });
  for (const response of [labelled, removed])
    expect([response.status, await response.json()]).toMatchObject([507, { code: "DISK_FULL" }]);
  const { sessions } = (await (await service.fetch("/sessions?limit=1000")).json()) as SessionList;
  expect(sessions).toHaveLength(stored);
  expect(sessions.find(({ session_id }) => session_id === first.session_id)).toEqual(kept);
  expect(inData("sessions")).toHaveLength(stored);
  expect(faults()).toHaveLength(3);
  for (const fault of faults()) expect(fault).toMatchObject({ msg: "DISK_FULL", err: { code: "SQLITE_IOERR_WRITE" } });
}, 60_000);
