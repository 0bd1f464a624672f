import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { ImportResult, Session, SessionSummary } from "@imprint/contracts";
import { Check } from "typebox/value";
import { expect, test } from "vitest";
import { makeNative } from "../support/native.js";
import { type Service, startLora, startService } from "../support/service.js";
import { makeSession, putSession } from "../support/session.js";

const upload = (service: Service, payload: string | Buffer, type = "application/json", query = "") =>
  service.call({ method: "POST", url: `/sessions${query}`, payload, headers: { "content-type": type } });

const MB = 1024 * 1024;

const incomingOf = (service: Service): string[] => readdirSync(join(service.dataDir, "incoming"));
const filesOf = (service: Service): string[] => readdirSync(join(service.dataDir, "sessions")).sort();

test("an uploaded session is stored, listed, read, trained on and deleted", async () => {
  const service = await startService();
  const created = await upload(service, makeNative("up-1"));
  expect(created.statusCode).toBe(201);
  expect(Check(ImportResult, created.json())).toBe(true);
  expect(created.json()).toMatchObject({ session_id: "up-1", format: "native", outcome: "success", warnings: [] });
  expect(Check(Session, JSON.parse(readFileSync(join(service.dataDir, "sessions", "up-1.json"), "utf8")))).toBe(true);

  expect((await service.get("/sessions")).json()).toMatchObject({ sessions: [{ session_id: "up-1" }], next: null });
  const one = (await service.get("/sessions/up-1")).json();
  const content = await service.get("/sessions/up-1/content");
  expect(content.headers["content-type"]).toContain("application/json");
  expect(content.json()).toEqual(JSON.parse(readFileSync(join(service.dataDir, "sessions", "up-1.json"), "utf8")));
  expect((await service.get("/sessions/none/content")).statusCode).toBe(404);
  expect(Check(SessionSummary, one)).toBe(true);
  expect((await service.ended(await startLora(service, { session_id: "up-1" }))).status).toBe("completed");

  expect((await service.call({ method: "DELETE", url: "/sessions/up-1" })).statusCode).toBe(204);
  expect((await service.get("/sessions/up-1")).statusCode).toBe(404);
  expect((await service.call({ method: "DELETE", url: "/sessions/up-1" })).statusCode).toBe(404);
  expect((await service.get("/sessions")).json().sessions).toEqual([]);
});

test("the same bytes again are answered 200 with the same id, and change nothing", async () => {
  const service = await startService();
  const first = await upload(service, makeNative("same"));
  const path = join(service.dataDir, "sessions", "same.json");
  const before = readFileSync(path);
  const again = await upload(service, makeNative("same"));
  expect([first.statusCode, again.statusCode]).toEqual([201, 200]);
  expect(again.json().session_id).toBe("same");
  expect(readFileSync(path)).toEqual(before);
  expect(filesOf(service)).toEqual(["same.json"]);
});

test("the same id with other bytes is stored under an id of its own, with a warning", async () => {
  const service = await startService();
  await upload(service, makeNative("twin"));
  const other = makeNative("twin", { task_description: "Something else." });
  const second = (await upload(service, other)).json();
  expect(second.session_id).toBe(`twin-${second.sha256.slice(0, 8)}`);
  expect(second.warnings.join()).toContain("twin");
  const again = await upload(service, other);
  expect(again.statusCode).toBe(200);
  expect(again.json().session_id).toBe(second.session_id);
  expect(filesOf(service)).toHaveLength(2);
});

test("a session that grew replaces its stored recording, and the shorter one never comes back", async () => {
  const service = await startService();
  const line = (n: number, type: string, content: string): string =>
    JSON.stringify({
      type,
      uuid: `u${n}`,
      parentUuid: n === 1 ? null : `u${n - 1}`,
      sessionId: "5b0f6d1e-9c44-4a7b-8f12-7413c0ffee02",
      timestamp: `2026-01-01T00:00:0${n}.000Z`,
      message: { role: type, content, ...(type === "assistant" ? { id: `m${n}` } : {}) },
    });
  const short = `${[line(1, "user", "Fix it."), line(2, "assistant", "Fixed.")].join("\n")}\n`;
  const long = `${short}${[line(3, "user", "Test it."), line(4, "assistant", "Tested.")].join("\n")}\n`;
  const send = (text: string) => upload(service, text, "application/x-ndjson");
  const first = (await send(short)).json();
  await service.call({ method: "PATCH", url: `/sessions/${first.session_id}`, payload: { outcome: "success" } });
  const grown = await send(long);
  expect([grown.statusCode, grown.json().session_id]).toEqual([201, first.session_id]);
  expect(grown.json()).toMatchObject({ assistant_turns: 2, outcome: "success" });
  expect(grown.json().warnings.join()).toContain("is replaced: it has 4 now");
  const back = await send(short);
  expect([back.statusCode, back.json().assistant_turns]).toEqual([200, 2]);
  expect((await send(long)).statusCode).toBe(200);
  expect((await service.get("/sessions")).json().sessions).toMatchObject([{ assistant_turns: 2 }]);
  expect(filesOf(service)).toHaveLength(1);
});

test("a damaged file is replaced by importing its source again", async () => {
  const service = await startService();
  await upload(service, makeNative("mend"));
  putSession(service.dataDir, "mend", '{"schema_version": 1, "source"');
  expect((await service.get("/sessions/mend")).json()).toMatchObject({ status: 422, code: "SESSION_INVALID" });
  const mended = await upload(service, makeNative("mend"));
  expect(mended.statusCode).toBe(201);
  expect(mended.json().warnings.join()).toContain("damaged");
  expect((await service.get("/sessions/mend")).statusCode).toBe(200);
});

test.each([
  ["nothing", "", "application/json", 422, "SESSION_UNREADABLE"],
  ["no session", '{"hello":"world"}', "application/json", 422, "SESSION_UNREADABLE"],
  ["no JSON", "{{{{", "application/json", 422, "SESSION_UNREADABLE"],
  ["a ZIP archive", Buffer.from("PK\u0003\u0004\n{}\n"), "application/json", 422, "SESSION_UNREADABLE"],
  ["random bytes", Buffer.from([0, 255, 1, 254]), "application/zstd", 422, "SESSION_UNREADABLE"],
  ["another content type", makeNative("x"), "text/plain", 415, "UNSUPPORTED_MEDIA_TYPE"],
  ["a form", makeNative("x"), "multipart/form-data; boundary=x", 415, "UNSUPPORTED_MEDIA_TYPE"],
])("an upload of %s is refused and stores nothing", async (_case, payload, type, status, code) => {
  const service = await startService();
  const response = await upload(service, payload, type);
  expect(response.json()).toMatchObject({ status, code });
  expect(filesOf(service)).toEqual([]);
});

test.each([
  ["says its length", (text: string) => text],
  ["does not say its length", (text: string) => Readable.from([text.slice(0, 100), text.slice(100)])],
])("an upload beyond session_limit that %s is refused, and the client hears it", async (_case, bodyOf) => {
  const service = await startService({ flags: { session_limit: 2048 } });
  const headers = { "content-type": "application/json" };
  const send = (text: string): Promise<Response> =>
    fetch(`${service.url}/sessions`, { method: "POST", headers, body: bodyOf(text), duplex: "half" } as RequestInit);
  const response = await send(makeNative("big", { task_description: "x".repeat(MB) }));
  expect(await response.json()).toMatchObject({ status: 413, code: "BODY_TOO_LARGE", detail: expect.stringContaining("2048") });
  expect((await send(makeNative("small"))).status).toBe(201);
  expect(filesOf(service)).toEqual(["small.json"]);
  expect(incomingOf(service)).toEqual([]);
});

test("a file that turns out broken after many conversations stores none of them, and labels none that are stored", async () => {
  const service = await startService();
  const line = (name: string): string => {
    const said = [{ role: "user", content: name }, ...["a", "b"].map((content) => ({ role: "assistant", content }))];
    return `${JSON.stringify({ messages: [...said, { role: "user", content: randomBytes(50_000).toString("hex") }] })}\n`;
  };
  const lines = Array.from({ length: 20 }, (_, index) => line(`Part ${index}.`)).join("");
  const whole = gzipSync(lines);
  const broken = Buffer.concat([whole.subarray(0, -500_000), Buffer.alloc(100, 0xff), whole.subarray(-500_000)]);
  const stored = (await upload(service, lines, "application/x-ndjson")).json();
  const before = filesOf(service);
  const refused = await upload(service, broken, "application/x-ndjson", "?outcome=success");
  expect([refused.statusCode, refused.json().detail]).toEqual([422, expect.stringContaining("cannot be decompressed")]);
  expect([stored.sessions.length, filesOf(service), incomingOf(service)]).toEqual([20, before, []]);
  expect((await service.get("/sessions")).json().sessions[0].outcome).toBe("unknown");
});

test("each conversation of a file is listed as it was answered, labels included", async () => {
  const service = await startService();
  const lines = ["one", "two", "three"].map((content) =>
    JSON.stringify({
      messages: [{ role: "user", content }, ...["a", "b"].map((said) => ({ role: "assistant", content: said }))],
    }),
  );
  const send = async (query = "") => (await upload(service, lines.join("\n"), "application/x-ndjson", query)).json().sessions;
  const listed = async () => (await service.get("/sessions")).json().sessions.reverse();
  const stored = await send();
  expect([stored.length, await listed()]).toEqual([3, stored]);
  const labelled = stored.map((one: SessionSummary) => ({ ...one, outcome: "success" }));
  expect([await send("?outcome=success"), await listed()]).toEqual([labelled, labelled]);
  expect((await service.get(`/sessions/${stored[1].session_id}`)).json()).toEqual(labelled[1]);
});

test("an unknown format is refused by name", async () => {
  const service = await startService();
  const response = await upload(service, makeNative("x"), "application/json", "?format=pickle");
  expect(response.json()).toMatchObject({ status: 422, errors: [{ path: "/format" }] });
});

test("a native file that was put there by hand is listed, read and trained on, and is not rewritten", async () => {
  const service = await startService();
  const content = makeNative("by-hand");
  putSession(service.dataDir, "by-hand", content);
  expect((await service.get("/sessions")).json().sessions).toMatchObject([{ session_id: "by-hand", format: "native" }]);
  expect((await service.ended(await startLora(service, { session_id: "by-hand" }))).status).toBe("completed");
  expect(readFileSync(join(service.dataDir, "sessions", "by-hand.json"), "utf8")).toBe(content);
  expect((await upload(service, content)).statusCode).toBe(200);
});

test("a file that is no session is not listed, and the others are", async () => {
  const service = await startService();
  putSession(service.dataDir, "torn", "{");
  putSession(service.dataDir, "fine");
  writeFileSync(join(service.dataDir, "sessions", "-odd name.json"), "{}");
  expect((await service.get("/sessions")).json().sessions.map((one: SessionSummary) => one.session_id)).toEqual(["fine"]);
});

/** The ids of all pages of two; `between` happens after each. */
const allPages = async (service: Service, between: (page: readonly string[]) => Promise<unknown> = async () => {}) => {
  const seen: string[] = [];
  for (let after = ""; ; ) {
    const { sessions, next } = (await service.get(`/sessions?limit=2${after}`)).json();
    const page = sessions.map((one: SessionSummary) => one.session_id);
    seen.push(...page);
    if (next === null) return seen;
    after = `&after=${next}`;
    await between(page);
  }
};

const withSix = async (): Promise<Service> => {
  const service = await startService();
  for (const id of ["a", "b", "c", "d"]) await upload(service, makeNative(id));
  for (const id of ["x", "y"]) putSession(service.dataDir, id);
  return service;
};
const SIX = ["x", "y", "d", "c", "b", "a"];

test("pages follow each other without gap or repetition", async () => {
  const service = await withSix();
  expect(await allPages(service)).toEqual(SIX);
  const named = (await service.get("/sessions?after=c")).json();
  expect(named.sessions.map((one: SessionSummary) => one.session_id)).toEqual(["b", "a"]);
});

test("a list whose page's last session is deleted goes on at its place", async () => {
  const service = await withSix();
  const remove = (page: readonly string[]) => service.call({ method: "DELETE", url: `/sessions/${page.at(-1)}` });
  expect(await allPages(service, remove)).toEqual(SIX);
});

test.each(["/sessions?after=none", "/adapters?after=none"])("a list behind what is not there is refused: %s", async (url) => {
  const service = await withSix();
  expect((await service.get(url)).json()).toMatchObject({ status: 422, errors: [{ path: "/after" }] });
});

test("a search finds sessions by words of their id, format, outcome and task, stored, labelled or put there by hand", async () => {
  const service = await startService();
  await upload(service, makeNative("gate-1", { task_description: "Fix the ÖLPUMPE gate." }));
  await upload(service, makeNative("gate-2", { task_description: "100% of a_b" }));
  putSession(service.dataDir, "by-hand", makeSession("by-hand", { outcome: "failure" }));
  const found = async (search: string, more = ""): Promise<string[]> =>
    (await service.get(`/sessions?search=${encodeURIComponent(search)}${more}`))
      .json()
      .sessions.map((one: SessionSummary) => one.session_id);
  expect(await found("gate")).toEqual(["gate-2", "gate-1"]);
  expect(await found("  ölpumpe  FIX ")).toEqual(["gate-1"]);
  expect(await found("NATIVE")).toEqual(["by-hand", "gate-2", "gate-1"]);
  expect([await found("100%"), await found("a_b"), await found("a%b"), await found("o'clock")]).toEqual([
    ["gate-2"],
    ["gate-2"],
    [],
    [],
  ]);
  expect([await found("failure"), await found(""), await found("native", "&limit=1&after=by-hand")]).toEqual([
    ["by-hand"],
    ["by-hand", "gate-2", "gate-1"],
    ["gate-2"],
  ]);
  await service.call({ method: "PATCH", url: "/sessions/gate-1", payload: { outcome: "failure" } });
  expect(await found("failure gate")).toEqual(["gate-1"]);
  expect((await service.get(`/sessions?search=${"x".repeat(257)}`)).json().errors[0].path).toBe("/search");
});

test("a label decides whether a session is trained on, and changes nothing else", async () => {
  const service = await startService();
  for (const id of ["a", "b"]) await upload(service, makeNative(id));
  const before = (await service.get("/sessions/a")).json();
  const label = (id: string, payload: object) => service.call({ method: "PATCH", url: `/sessions/${id}`, payload });
  const labelled = await label("a", { outcome: "failure" });
  expect(labelled.statusCode).toBe(200);
  expect(labelled.json()).toEqual({ ...before, outcome: "failure" });
  expect((await service.get("/sessions/a")).json()).toEqual({ ...before, outcome: "failure" });
  const listed = (await service.get("/sessions")).json().sessions;
  expect(listed.map(({ session_id, outcome }: SessionSummary) => [session_id, outcome])).toEqual([
    ["b", "success"],
    ["a", "failure"],
  ]);
  const refused = await service.ended(await startLora(service, { session_id: "a" }));
  expect(refused.error).toMatchObject({ code: "SESSION_UNSUCCESSFUL", hint: expect.stringContaining("imprint label") });
  await label("a", { outcome: "success" });
  expect((await service.ended(await startLora(service, { session_id: "a" }))).status).toBe("completed");
  expect((await label("a", { outcome: "good" })).json()).toMatchObject({ status: 422, errors: [{ path: "/outcome" }] });
  expect((await label("none", { outcome: "success" })).json()).toMatchObject({ status: 404, code: "SESSION_NOT_FOUND" });
});

test("an upload takes the outcome that the caller knows, also of a session that is stored already", async () => {
  const service = await startService();
  const chat = '{"messages":[{"role":"user","content":"Fix it."},{"role":"assistant","content":"Fixed."}]}\n';
  const first = await upload(service, chat, "application/x-ndjson");
  expect(first.json().outcome).toBe("unknown");
  const again = await upload(service, chat, "application/x-ndjson", "?outcome=success");
  expect([again.statusCode, again.json().outcome, again.json().session_id]).toEqual([200, "success", first.json().session_id]);
  expect((await upload(service, chat, "application/x-ndjson")).json().outcome).toBe("success");
  const other = await upload(service, makeNative("lost"), "application/json", "?outcome=failure");
  expect(other.json().outcome).toBe("failure");
  expect((await upload(service, chat, "application/x-ndjson", "?outcome=good")).json().errors[0].path).toBe("/outcome");
});

test("a preview shows the window that is asked for, and says how many there are to one that is not there", async () => {
  const windows = [[{ text: "first", supervised: true, tokens: 1 }], [{ text: "second", supervised: true, tokens: 1 }]];
  const service = await startService({ behaviour: { windows } });
  putSession(service.dataDir, "s1", makeSession("s1"));
  const shown = async (window: number) => (await service.post("/sessions/s1/preview", { window })).json();
  expect(await shown(2)).toMatchObject({ first_window: 2, text: [[{ text: "second" }]] });
  expect((await service.post("/train/lora/preview", { session_id: "s1", window: 2 })).json().first_window).toBe(2);
  const missing = await shown(3);
  expect(missing).toMatchObject({ status: 422, code: "VALIDATION_FAILED", errors: [{ path: "/window" }] });
  expect(missing.detail).toContain("Field window must be at most 2");
  expect((await shown(0)).errors[0].path).toBe("/window");
  expect((await service.post("/train/lora", { session_id: "s1", window: 1 })).statusCode).toBe(422);
});

test("a preview says what would be trained and leaves nothing behind", async () => {
  const service = await startService();
  putSession(service.dataDir, "s1", makeSession("s1"));
  const response = await service.post("/sessions/s1/preview", { max_length: 512 });
  expect(response.statusCode).toBe(200);
  expect(response.json()).toMatchObject({ windows: 2, supervised_tokens: 120, max_steps: 3 });
  expect(readdirSync(join(service.dataDir, "adapters", ".staging"))).toEqual([]);
  expect((await service.post("/sessions/none/preview", {})).statusCode).toBe(404);
  expect((await service.post("/sessions/s1/preview", { max_length: 1 })).json().errors[0].path).toBe("/max_length");
  expect((await service.post("/sessions/s1/preview", { base_model: "nobody" })).json().code).toBe("BASE_MODEL_NOT_FOUND");
  expect(existsSync(join(service.dataDir, "sessions", "s1.json"))).toBe(true);
});
