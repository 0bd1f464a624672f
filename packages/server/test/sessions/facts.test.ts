import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionSummary } from "@imprint/contracts";
import Libsql from "libsql";
import { expect, test } from "vitest";
import { type Service, startLora, startService } from "../support/service.js";
import { makeSession, putSession } from "../support/session.js";

interface Recorded {
  readonly id: string;
  readonly day: number;
  readonly folder?: string;
  readonly branch?: string;
  readonly remote?: string;
  readonly model?: string;
  readonly provider?: string;
}

/** What Codex writes of a session on a day of March. */
const rollout = ({ id, day, folder = "/srv/shop", branch = "main", remote, model = "gpt-x", provider = "openai" }: Recorded) => {
  const at = (second: number): string => new Date(Date.UTC(2026, 2, day, 0, 0, second)).toISOString();
  const said = (second: number, role: string, type: string, text: string): object => ({
    ...{ timestamp: at(second), type: "response_item" },
    payload: { type: "message", role, content: [{ type, text }] },
  });
  const git = { branch, ...(remote !== undefined && { repository_url: remote }) };
  return [
    { timestamp: at(0), type: "session_meta", payload: { id, cwd: folder, model_provider: provider, git } },
    { timestamp: at(0), type: "turn_context", payload: { model } },
    said(1, "user", "input_text", `Task of ${id}.`),
    said(9, "assistant", "output_text", `Done: ${id}.`),
  ]
    .map((line) => JSON.stringify(line))
    .join("\n");
};

const complaint = (day: number): string =>
  JSON.stringify({
    ...{ timestamp: new Date(Date.UTC(2026, 2, day, 1)).toISOString(), type: "response_item" },
    payload: { type: "message", role: "user", content: [{ type: "input_text", text: "No, revert that." }] },
  });

const send = (service: Service, payload: string) =>
  service.call({ method: "POST", url: "/sessions", payload, headers: { "content-type": "application/x-ndjson" } });

const listed = async (service: Service, query = ""): Promise<readonly SessionSummary[]> =>
  (await service.get(`/sessions${query}`)).json().sessions;
const idsOf = async (service: Service, query = "") => (await listed(service, query)).map(({ session_id }) => session_id);

test("a session says where, when and with which model it was recorded", async () => {
  const service = await startService();
  const remote = "https://git.example.com/shop/billing-api.git";
  const stored = (await send(service, rollout({ id: "s1", day: 3, branch: "fix/rounding", remote }))).json();
  const facts = {
    ...{ folder: "/srv/shop", repository: "billing-api", branch: "fix/rounding", model: "gpt-x", provider: "openai" },
    ...{ started_at: "2026-03-03T00:00:01.000Z", ended_at: "2026-03-03T00:00:09.000Z" },
  };
  expect([stored, (await service.get("/sessions/s1")).json(), (await listed(service))[0]]).toMatchObject([facts, facts, facts]);
  expect((await service.get("/sessions/s1/content")).json().source).toMatchObject({
    folder: "/srv/shop",
    repository: "billing-api",
  });
  expect(stored.own).toBeUndefined();
});

test("an upload takes the folder that the caller knows, also of a stored session, but the recording's own goes before it", async () => {
  const service = await startService();
  const said = (type: string, at: number): object => ({
    id: `m${at}`,
    type,
    timestamp: `2026-01-05T10:00:0${at}Z`,
    content: "Round it.",
  });
  const gemini = JSON.stringify({ sessionId: "g1", projectHash: "h", messages: [said("user", 1), said("gemini", 2)] });
  const upload = (payload: string, query: string) =>
    service.call({ method: "POST", url: `/sessions${query}`, payload, headers: { "content-type": "application/json" } });
  expect((await upload(gemini, "")).json().folder).toBeUndefined();
  const told = { folder: "/srv/billing-api", repository: "billing-api" };
  expect((await upload(gemini, "?folder=%2Fsrv%2Fbilling-api")).json()).toMatchObject(told);
  expect(await idsOf(service, "?repository=billing-api")).toEqual(["g1"]);
  expect((await upload(rollout({ id: "s1", day: 3 }), "?folder=%2Fsrv%2Fbilling-api")).json().folder).toBe("/srv/shop");
});

test("lists are in the order in which sessions were recorded, and of those that do not say it in that of import", async () => {
  const service = await startService();
  for (const [id, day] of [
    ["b", 5],
    ["d", 9],
    ["a", 2],
    ["c", 7],
  ] as const)
    await send(service, rollout({ id, day }));
  const chat = JSON.stringify({ messages: ["user", "assistant"].map((role) => ({ role, content: "Now." })) });
  const undated = (await send(service, chat)).json().session_id;
  expect(await idsOf(service)).toEqual([undated, "d", "c", "b", "a"]);
});

test("pages go on where they were when a session grows, comes in or goes meanwhile", async () => {
  const service = await startService();
  for (let day = 1; day <= 6; day += 1) await send(service, rollout({ id: `s${day}`, day }));
  const first = (await service.get("/sessions?limit=2")).json();
  await send(service, rollout({ id: "new", day: 20 }));
  await service.call({ method: "DELETE", url: "/sessions/s5" });
  const line = { timestamp: "2026-03-25T00:00:00.000Z", type: "response_item" };
  const more = { ...line, payload: { type: "message", role: "user", content: [{ type: "input_text", text: "Go on." }] } };
  expect((await send(service, `${rollout({ id: "s4", day: 4 })}\n${JSON.stringify(more)}`)).statusCode).toBe(201);
  const second = (await service.get(`/sessions?limit=9&after=${first.next}`)).json();
  expect(second.sessions.map((one: SessionSummary) => one.session_id)).toEqual(["s3", "s2", "s1"]);
  expect(await idsOf(service)).toEqual(["s4", "new", "s6", "s3", "s2", "s1"]);
});

test("sessions are found by repository, folder, branch and model, imported or put there by hand", async () => {
  const service = await startService();
  await send(service, rollout({ id: "api", day: 1, folder: "/srv/billing-api", model: "gpt-x" }));
  await send(
    service,
    rollout({ id: "src", day: 2, folder: "/srv/billing-api/src", remote: "git@h.example:a/billing-api", branch: "next" }),
  );
  await send(service, rollout({ id: "apis", day: 3, folder: "/srv/billing-apis", model: "gpt-y" }));
  const source = {
    ...makeSession("x").source,
    folder: "/srv/billing-api",
    repository: "billing-api",
    branch: "next",
    model: "gpt-x",
  };
  putSession(service.dataDir, "hand", makeSession("hand", { source }));
  expect(await idsOf(service, "?repository=billing-api")).toEqual(["hand", "src", "api"]);
  expect(await idsOf(service, "?folder=/srv/billing-api")).toEqual(["hand", "src", "api"]);
  expect(await idsOf(service, "?folder=/srv/billing-api/src/")).toEqual(["src"]);
  expect(await idsOf(service, "?branch=next")).toEqual(["hand", "src"]);
  expect(await idsOf(service, "?model=gpt-y")).toEqual(["apis"]);
  expect(await idsOf(service, "?repository=billing-api&branch=main&prefix=a")).toEqual(["api"]);
  expect(await idsOf(service, "?search=BILLING-API%20next")).toEqual(["hand", "src"]);
  expect(await idsOf(service, "?repository=none")).toEqual([]);
});

test("sessions are found by format, day, outcome and whether an adapter was trained on them, imported or put there by hand", async () => {
  const service = await startService();
  for (const day of [1, 2, 3]) await send(service, rollout({ id: `d${day}`, day }));
  await service.call({ method: "PATCH", url: "/sessions/d2", payload: { outcome: "failure" } });
  const judged = rollout({ id: "judged", day: 5 });
  await send(service, judged.replace("Done: judged.", "Committed.").concat(`\n${complaint(5)}`));
  for (const id of ["hand", "trained"])
    putSession(service.dataDir, id, makeSession(id, { started_at: "2026-03-04T08:00:00.000Z", outcome: "success" }));
  for (const session_id of ["d1", "trained"]) await service.ended(await startLora(service, { session_id }));
  const archived = await service.ended(await startLora(service, { session_id: "d3" }));
  await service.call({ method: "DELETE", url: `/adapters/${archived.adapter_id}` });

  expect(await idsOf(service, "?format=codex")).toEqual(["judged", "d3", "d2", "d1"]);
  expect(await idsOf(service, "?outcome=failure")).toEqual(["judged", "d2"]);
  expect(await idsOf(service, "?outcome=success&format=atif")).toEqual([]);
  expect(await idsOf(service, "?since=2026-03-02&until=2026-03-03")).toEqual(["d3", "d2"]);
  expect(await idsOf(service, "?trained=true&limit=9")).toEqual(["trained", "d1"]);
  const first = (await service.get("/sessions?trained=false&limit=2")).json();
  expect(await idsOf(service, `?trained=false&after=${first.next}`)).toEqual(["d3", "d2"]);
  for (const query of ["since=yesterday", "until=2026-02-30", "trained=maybe", "outcome=fine"]) {
    const refused = await service.get(`/sessions?${query}`);
    expect(refused.statusCode).toBe(422);
    expect(refused.json().detail).toMatch(new RegExp(`${query.split("=")[0]}.*(day|true|success)`));
  }
});

test("what an earlier version stored is read again at a start, and where it was recorded at its next import", async () => {
  const service = await startService();
  const text = rollout({ id: "old", day: 3 });
  await send(service, text);
  await service.call({ method: "PATCH", url: "/sessions/old", payload: { outcome: "success" } });
  await service.close(0);
  // As it left them: a session without these facts, and a registry without their columns.
  const path = join(service.dataDir, "sessions", "old.json");
  const { folder: _f, repository: _r, branch: _b, provider: _p, ...source } = JSON.parse(readFileSync(path, "utf8")).source;
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), source }));
  const registry = new Libsql(join(service.dataDir, "registry.db"));
  registry.exec("alter table adapters drop column served; alter table adapters drop column tasks");
  registry.exec("drop index sessions_by_time; drop index sessions_by_repository;");
  for (const name of ["folder", "repository", "branch", "model", "recorded_at"])
    registry.exec(`alter table sessions drop column ${name}`);
  registry.exec("create index sessions_by_time on sessions (by_hand, stored_at)");
  const bare = ["folder", "repository", "branch", "provider", "model", "started_at", "ended_at"];
  registry.exec(`update sessions set summary = json_remove(summary, ${bare.map((name) => `'$.${name}'`).join(", ")})`);
  registry.exec("pragma user_version = 11");
  registry.close();

  const again = await startService({ dataDir: service.dataDir });
  expect((await again.get("/sessions/old")).json()).toMatchObject({ model: "gpt-x", ended_at: "2026-03-03T00:00:09.000Z" });
  expect(await idsOf(again, "?model=gpt-x")).toEqual(["old"]);
  const { steps } = JSON.parse(readFileSync(path, "utf8"));
  const imported = await send(again, text);
  expect([imported.statusCode, imported.json()]).toMatchObject([
    200,
    { folder: "/srv/shop", branch: "main", outcome: "success" },
  ]);
  expect(await idsOf(again, "?repository=shop")).toEqual(["old"]);
  expect(JSON.parse(readFileSync(path, "utf8")).steps).toEqual(steps);
});

/** Of one task, so that they name the same files. */
const claude = (id: string, model: string): string =>
  ["user", "assistant"]
    .map((type, n) =>
      JSON.stringify({
        ...{
          type,
          uuid: `${id}-${n}`,
          parentUuid: n === 0 ? null : `${id}-0`,
          sessionId: id,
          timestamp: `2026-03-0${n + 1}T00:00:00.000Z`,
        },
        message: { role: type, content: `${id} ${n}`, id: `m-${id}-${n}`, model },
      }),
    )
    .join("\n");

const recording = (id: string, model: string): string =>
  JSON.stringify({
    ...{
      recorded_by: "imprint",
      version: 1,
      session_id: id,
      started_at: "2026-03-01T00:00:00.000Z",
      agent: null,
      model,
      tools: [],
    },
    ...{ messages: ["user", "assistant"].map((role) => ({ role, content: `${id} of ${role}` })), answered: [1], cut: [] },
  });

test("what the service answered itself is marked as its own, by provider, by name and as it recorded it", async () => {
  const service = await startService();
  putSession(service.dataDir, "first");
  const done = await service.ended(await startLora(service, { session_id: "first", adapter_id: "gates-v1" }));
  expect(done.status).toBe("completed");
  const base = (await service.get("/adapters/gates-v1")).json().base_model;
  const own = [
    rollout({ id: "codex-own", day: 1, provider: "imprint", model: "gates-v1" }),
    rollout({ id: "codex-base", day: 2, provider: "imprint", model: base }),
    claude("claude-own", "gates-v1"),
    claude("claude-base", base),
    recording("recorded-own", "gates-v1"),
    "# aider chat started at 2026-03-04 05:06:00\n\n> Aider v0.86.1  \n> Model: openai/gates-v1 with diff edit format  \n\n#### Fix it.  \n\nDone.\n",
  ];
  const others = [
    rollout({ id: "codex-other", day: 3 }),
    claude("claude-other", "claude-x"),
    // What a base was asked through the service may be a larger model's, behind it: recording is for that.
    recording("recorded-base", base),
  ];
  const isOwn = async (text: string): Promise<boolean> => {
    const type = text.startsWith("#") ? "text/markdown" : "application/x-ndjson";
    const stored = (
      await service.call({ method: "POST", url: "/sessions", payload: text, headers: { "content-type": type } })
    ).json();
    expect((await service.get(`/sessions/${stored.session_id}`)).json().own).toBe(stored.own);
    return stored.own === true;
  };
  for (const text of own) expect(await isOwn(text), text).toBe(true);
  for (const text of others) expect(await isOwn(text), text).toBe(false);
  expect((await listed(service)).filter((one) => one.own)).toHaveLength(own.length);
});

test("a preview of a session that an adapter wrote warns, and a training on it by its id runs", async () => {
  const service = await startService();
  await send(service, rollout({ id: "own", day: 1, provider: "imprint", model: "gates-v1" }));
  await send(service, rollout({ id: "other", day: 1 }));
  const remarksOf = async (id: string): Promise<readonly string[]> =>
    (await service.post(`/sessions/${id}/preview`, {})).json().remarks;
  expect(await remarksOf("own")).toContain(
    "own holds the words of gates-v1, which this service answered with: a training on them teaches an adapter what it says already.",
  );
  expect((await remarksOf("other")).join()).not.toContain("holds the words of");
  expect((await service.ended(await startLora(service, { session_id: "own" }))).status).toBe("completed");
});
