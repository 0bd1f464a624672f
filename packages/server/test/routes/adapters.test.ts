import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  type ReadStream,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { Adapter, AdapterList } from "@imprint/contracts";
import { Check } from "typebox/value";
import { expect, onTestFinished, test, vi } from "vitest";
import { type Service, startLora, startService } from "../support/service.js";
import { makeSession, putSession } from "../support/session.js";

const WEIGHTS = "adapter_model.safetensors";

const withAdapters = async (...ids: readonly string[]): Promise<Service> => {
  const service = await startService();
  for (const id of ids) {
    const session_id = `s-${id}`;
    putSession(service.dataDir, session_id, makeSession(session_id));
    await service.ended(await startLora(service, { session_id, adapter_id: id, task_type: id === "b" ? "review" : "code-gen" }));
  }
  return service;
};

const idsOf = async (service: Service, query = ""): Promise<string[]> => {
  const list = (await service.get(`/adapters${query}`)).json();
  expect(Check(AdapterList, list)).toBe(true);
  return list.adapters.map((adapter: Adapter) => adapter.adapter_id);
};

test("adapters are listed newest first, in pages and by filter", async () => {
  const service = await withAdapters("a", "b", "c");
  expect(await idsOf(service)).toEqual(["c", "b", "a"]);
  const page = (await service.get("/adapters?limit=2")).json();
  expect(page.next).toBe("b");
  expect(await idsOf(service, `?limit=2&after=${page.next}`)).toEqual(["a"]);
  expect(await idsOf(service, "?task_type=review")).toEqual(["b"]);
  expect(await idsOf(service, "?session_id=s-c")).toEqual(["c"]);
  expect(await idsOf(service, "?base_model=test-model&task_type=code-gen")).toEqual(["c", "a"]);
  expect(await idsOf(service, "?base_model=other")).toEqual([]);
});

test("an adapter of several sessions names them all, and is found by each", async () => {
  const service = await startService();
  for (const id of ["s1", "s2"]) putSession(service.dataDir, id);
  const job = await service.ended(await startLora(service, { session_ids: ["s1", "s2"], adapter_id: "both" }));
  expect(job.status).toBe("completed");
  expect((await service.get("/adapters/both")).json()).toMatchObject({ session_id: "s1", session_ids: ["s1", "s2"] });
  expect(await idsOf(service, "?session_id=s2")).toEqual(["both"]);
  expect(await idsOf(service, "?session_id=s")).toEqual([]);
});

test("an adapter altered or deleted by hand is reported, and the API stays up", async () => {
  const service = await withAdapters("a", "b");
  writeFileSync(join(service.dataDir, "adapters", "a", WEIGHTS), "damaged");
  rmSync(join(service.dataDir, "adapters", "b"), { recursive: true });
  expect((await service.get("/adapters/a")).json().health).toBe("corrupt");
  expect((await service.post("/adapters/b/verify")).json().health).toBe("missing");
  const { adapters } = (await service.get("/adapters")).json();
  expect(adapters.map((adapter: Adapter) => adapter.health)).toEqual(["missing", "corrupt"]);
  const refused = await service.get(`/adapters/b/files/${WEIGHTS}`);
  expect([refused.statusCode, refused.json().code]).toEqual([409, "ADAPTER_INVALID"]);
});

const weightsOf = (service: Service): string => join(service.dataDir, "adapters", "a", WEIGHTS);

test.each<[string, (path: string, whole: Buffer) => void]>([
  [
    "one byte altered and the same time of change",
    (path, whole) => {
      const { atime, mtime } = statSync(path);
      writeFileSync(path, Buffer.from(whole).fill(1, whole.length - 1));
      utimesSync(path, atime, mtime);
    },
  ],
  ["a header that lies", (path, whole) => writeFileSync(path, Buffer.concat([Buffer.alloc(8, 0xff), whole.subarray(8)]))],
  [
    "a link in place of the file",
    (path, whole) => {
      writeFileSync(`${path}.elsewhere`, whole);
      renameSync(`${path}.elsewhere`, join(path, "..", "..", "elsewhere"));
      rmSync(path);
      symlinkSync("../elsewhere", path);
    },
  ],
])("weights with %s are not attached, handed out or exported", async (_case, alter) => {
  const service = await withAdapters("a");
  const path = weightsOf(service);
  const whole = readFileSync(path);
  const chat = { model: "a", messages: [{ role: "user", content: "hello" }] };
  expect((await service.post("/v1/chat/completions", chat)).statusCode).toBe(200);

  alter(path, whole);
  const answered = await service.post("/v1/chat/completions", chat);
  expect([answered.statusCode, answered.json().error.code]).toEqual([400, "adapter_invalid"]);
  const sent = await service.get(`/adapters/a/files/${WEIGHTS}`);
  expect([sent.statusCode, sent.json().code]).toEqual([409, "ADAPTER_INVALID"]);
  const { job_id } = (await service.post("/adapters/a/export", { format: "gguf" })).json();
  expect((await service.ended(job_id)).error?.code).toBe("ADAPTER_INVALID");
});

test("files are downloaded whole or in ranges", async () => {
  const service = await withAdapters("a");
  const bytes = readFileSync(join(service.dataDir, "adapters", "a", WEIGHTS));
  const url = `/adapters/a/files/${WEIGHTS}`;
  const whole = await service.get(url);
  expect(whole.rawPayload).toEqual(bytes);
  expect(whole.headers).toMatchObject({
    "accept-ranges": "bytes",
    "content-type": "application/octet-stream",
    "content-length": String(bytes.length),
    etag: `"${createHash("sha256").update(bytes).digest("hex")}"`,
  });

  const range = (value: string, more = {}) => service.call({ method: "GET", url, headers: { range: value, ...more } });
  const part = await range("bytes=8-15");
  expect(part.statusCode).toBe(206);
  expect(part.headers["content-range"]).toBe(`bytes 8-15/${bytes.length}`);
  expect(part.rawPayload).toEqual(bytes.subarray(8, 16));
  expect((await range("bytes=-4")).rawPayload).toEqual(bytes.subarray(-4));
  expect((await range(`bytes=${bytes.length - 2}-`)).rawPayload).toEqual(bytes.subarray(-2));
  expect((await range("bytes=0-999999999")).rawPayload).toEqual(bytes);
  const behind = await range(`bytes=${bytes.length}-`);
  expect(behind.json()).toMatchObject({ status: 416, code: "RANGE_NOT_SATISFIABLE", request_id: expect.any(String) });
  expect(behind.headers).toMatchObject({
    "content-type": expect.stringContaining("application/problem+json"),
    "content-range": `bytes */${bytes.length}`,
  });
  for (const ignored of ["bytes=0-1,4-5", "lines=1-2", "bytes=", "bytes=x-y", "bytes=5-2"])
    expect((await range(ignored)).statusCode).toBe(200);
  expect((await range("bytes=0-3", { "if-range": '"other"' })).statusCode).toBe(200);
  expect((await range("bytes=0-3", { "if-range": String(whole.headers.etag) })).statusCode).toBe(206);
  const head = await service.call({ method: "HEAD", url });
  expect([head.statusCode, head.body, head.headers["content-length"]]).toEqual([200, "", String(bytes.length)]);
  for (const name of ["nothing.json", "..%2fa%2fREADME.md", "%00"])
    expect((await service.get(`/adapters/a/files/${name}`)).statusCode).toBe(404);
});

test("HEAD of a file reads nothing of it", async () => {
  const service = await withAdapters("a");
  const url = `/adapters/a/files/${WEIGHTS}`;
  await service.get(url); // hashed now
  const handle = await open(weightsOf(service));
  onTestFinished(() => handle.close());
  const streams = vi.spyOn(Object.getPrototypeOf(handle), "createReadStream");
  for (const method of ["HEAD", "GET"] as const) {
    expect((await service.call({ method, url })).statusCode).toBe(200);
    const stream = streams.mock.results.at(-1)?.value as ReadStream;
    await vi.waitFor(() => expect(stream.closed).toBe(true));
    expect(stream.bytesRead).toBe(method === "HEAD" ? 0 : statSync(weightsOf(service)).size);
  }
});

test("a file that the client has is not sent again", async () => {
  const service = await withAdapters("a");
  const url = `/adapters/a/files/${WEIGHTS}`;
  const { etag } = (await service.get(url)).headers;
  const again = (known: string) => service.call({ method: "GET", url, headers: { "if-none-match": known } });
  for (const known of [String(etag), `"other", ${etag}`, `W/${etag}`, "*"]) {
    const response = await again(known);
    expect([response.statusCode, response.body, response.headers.etag]).toEqual([304, "", etag]);
  }
  expect((await again('"other"')).statusCode).toBe(200);
});

test("what lies in an adapter's folder and is no file of its own is not sent", async () => {
  const service = await withAdapters("a");
  const path = join(service.dataDir, "adapters", "a", WEIGHTS);
  const replace: Readonly<Record<string, () => void>> = {
    "a link out of the folder": () => symlinkSync("/etc/passwd", path),
    "a link to another file of it": () => symlinkSync("README.md", path),
    "a folder": () => mkdirSync(path),
    "a pipe": () => execFileSync("mkfifo", [path]),
  };
  for (const [kind, make] of Object.entries(replace)) {
    rmSync(path, { recursive: true });
    make();
    const response = await service.get(`/adapters/a/files/${WEIGHTS}`);
    expect([response.statusCode, response.json().code], kind).toEqual([409, "ADAPTER_INVALID"]);
  }
});

test("archiving hides an adapter and keeps its files; purging removes them", async () => {
  const service = await withAdapters("a");
  const folder = join(service.dataDir, "adapters", "a");
  const remove = (query = "") => service.call({ method: "DELETE", url: `/adapters/a${query}` });
  expect((await remove()).statusCode).toBe(204);
  expect(await idsOf(service)).toEqual([]);
  expect((await service.get("/adapters/a")).statusCode).toBe(404);
  expect(existsSync(folder)).toBe(true);
  expect((await remove("?purge=maybe")).statusCode).toBe(422);
  expect((await remove("?purge=true")).statusCode).toBe(204);
  expect(existsSync(folder)).toBe(false);
  expect((await service.call({ method: "DELETE", url: "/adapters/never" })).statusCode).toBe(404);
});

test("an adapter's record holds its lineage and hashes", async () => {
  const service = await withAdapters("a");
  const adapter = (await service.get("/adapters/a")).json();
  expect(Check(Adapter, adapter)).toBe(true);
  expect(adapter).toMatchObject({
    adapter_id: "a",
    session_id: "s-a",
    base_model: "test-model",
    rank: 16,
    alpha: 32,
    path: "adapters/a",
  });
  expect(adapter.files.map((file: { name: string }) => file.name)).toContain("adapter_config.json");
});
