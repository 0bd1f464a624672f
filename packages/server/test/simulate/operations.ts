import type { Outcome } from "@imprint/contracts";
import { expect } from "vitest";
import { pick, type Random } from "../support/from-schema.js";
import { disk } from "./disk.js";
import { LEFT, type Model, recordingOf } from "./model.js";
import { MOVES } from "./trainer.js";
import type { Answer, Asked, World } from "./world.js";

export interface Stage<W extends Asked = World> {
  readonly world: W;
  readonly model: Model;
  readonly random: Random;
  /** Whether nothing else is asked meanwhile. */
  readonly isAlone: boolean;
  /** Whether an answer that comes now says what is there: nothing else was asked meanwhile, and the power is not cut. */
  readonly isSure: () => boolean;
  /** Names that were never used before. */
  readonly fresh: (kind: string) => string;
}

/** A source of such names. */
export const createFresh = (): Stage["fresh"] => {
  const names = new Map<string, number>();
  return (kind) => {
    names.set(kind, (names.get(kind) ?? 0) + 1);
    return `${kind}-${names.get(kind)}`;
  };
};

/** What may answer a call besides success: what a fault of the disk explains, or a state that the client could not know. */
const expectAnswer = ({ status, body }: Answer, ...allowed: readonly number[]): void => {
  if (allowed.includes(status)) return;
  expect(disk.failed, `answered ${status} without a fault: ${body}`).not.toEqual([]);
  expect(status, body).toBeGreaterThanOrEqual(500);
  expect(body).toMatch(/"code":"\w+"/);
};

const done = ({ status }: Answer): boolean => status < 300;

const anySession = ({ model, random, fresh }: Stage<Asked>): string => pick(random, [...model.stored(), fresh("session")]);
const anyAdapter = ({ model, random }: Stage<Asked>): string => pick(random, [...model.registered(), "absent"]);

/** The statuses of success, of what is not there, or of both, by what may be. */
const statuses = (states: readonly unknown[] | undefined, success: readonly number[]): readonly number[] => [
  ...(states?.some((one) => one !== null && one !== "absent") ? success : []),
  ...((states?.some((one) => one === null || one === "absent") ?? true) ? [404] : []),
];

/** Imports the recording of a session after so many turns. */
export const sendRecording = (world: Asked, id: string, turns: number): Promise<Answer> => {
  const headers = { "content-type": "application/x-ndjson" };
  return world.call({ method: "POST", url: "/sessions", payload: recordingOf(id, turns), headers });
};

const importSession = async (stage: Stage<Asked>): Promise<string> => {
  const { model, world, random, isSure } = stage;
  const id = anySession(stage);
  const [before = null] = model.sessions.get(id) ?? [];
  const turns = Math.max(1, (before?.turns ?? 0) + pick(random, [-1, 0, 1, 1, 2]));
  const confirm = model.ask(model.sessions, id, null, (one) => ({
    turns: Math.max(turns, one?.turns ?? 0),
    outcome: one?.outcome ?? "unknown",
  }));
  const answer = await sendRecording(world, id, turns);
  expectAnswer(answer, 200, 201);
  if (isSure() && done(answer)) confirm();
  return id;
};

const labelSession = async (stage: Stage<Asked>): Promise<string> => {
  const { model, world, random, isAlone, isSure } = stage;
  const id = anySession(stage);
  const outcome = pick<Outcome>(random, ["success", "failure", "unknown"]);
  const expected = statuses(model.sessions.get(id), [200]);
  const confirm = model.ask(model.sessions, id, null, (one) => one && { ...one, outcome });
  const answer = await world.call({ method: "PATCH", url: `/sessions/${id}`, payload: { outcome } });
  expectAnswer(answer, ...expected, ...(isAlone ? [] : [200, 404]));
  if (isSure() && done(answer)) confirm();
  return id;
};

const deleteSession = async (stage: Stage<Asked>): Promise<string> => {
  const { model, world, isAlone, isSure } = stage;
  const id = anySession(stage);
  const expected = statuses(model.sessions.get(id), [204]);
  const confirm = model.ask(model.sessions, id, null, () => null);
  const answer = await world.call({ method: "DELETE", url: `/sessions/${id}` });
  expectAnswer(answer, ...expected, ...(isAlone ? [] : [204, 404]));
  if (isSure() && done(answer)) confirm();
  return id;
};

const startTraining = async (stage: Stage): Promise<void> => {
  const { world, model, random } = stage;
  const [session_id, adapter_id] = [anySession(stage), stage.fresh("adapter")];
  const request: Parameters<World["call"]>[0] = {
    method: "POST",
    url: "/train/lora",
    payload: { session_id, adapter_id },
    headers: random() < 0.3 ? { "idempotency-key": `key-${adapter_id}` } : {},
  };
  model.ask(model.adapters, adapter_id, "absent", () => "registered");
  const answer = await world.call(request);
  expectAnswer(answer, 200, 429); // a session that is not there fails its job
  if (!done(answer) || random() < 0.5 || !("idempotency-key" in (request.headers ?? {}))) return;
  const again = await world.call(request);
  expect([again.status, again.body]).toEqual([200, answer.body]);
};

const startWork = async (stage: Stage): Promise<void> => {
  const [adapter, what] = [anyAdapter(stage), pick(stage.random, ["export", "evaluate"])];
  const payload = what === "export" ? { format: pick(stage.random, ["gguf", "merged"]) } : {};
  const expected = statuses(stage.model.adapters.get(adapter), [202]);
  const answer = await stage.world.call({ method: "POST", url: `/adapters/${adapter}/${what}`, payload });
  // Two at once of one adapter, nothing to test on, and a queue that is full are the client's.
  expectAnswer(answer, ...expected, ...(stage.isAlone ? [] : [202, 404]), 400, 409, 422, 429);
};

const cancelJob = async ({ world, random }: Stage): Promise<void> => {
  const { jobs } = world.server.jobs.list({ limit: 20 });
  const job = pick(random, [...jobs.map(({ job_id }) => job_id), "job_00000000000000000000000000"]);
  expectAnswer(await world.call({ method: "POST", url: `/jobs/${job}/cancel` }), 202, 404, 409, 422);
};

const moveTrainer = async ({ world, random }: Stage): Promise<void> => {
  const running = world.trainer.running();
  if (running.length > 0) await world.trainer.move(pick(random, running), random() < 0.5 ? "does it well" : pick(random, MOVES));
};

const deleteAdapter = async (stage: Stage<Asked>): Promise<string> => {
  const { world, model, random, isAlone, isSure } = stage;
  const id = pick(random, [...model.registered(), ...model.archived, "absent"]);
  const expected = model.archived.has(id) ? [204] : statuses(model.adapters.get(id), [204]);
  const confirm = model.ask<"registered" | "absent">(model.adapters, id, "absent", () => "absent");
  const purge = random() < 0.5;
  const answer = await world.call({ method: "DELETE", url: `/adapters/${id}?purge=${purge}` });
  expectAnswer(answer, ...expected, ...(isAlone ? [] : [204, 404]));
  if (isSure() && done(answer)) {
    confirm();
    if (purge) model.archived.delete(id);
    else model.archived.add(id);
  }
  return id;
};

const BOUNDARY = "simulated";

const uploadFile = async ({ world, model, fresh }: Stage): Promise<void> => {
  const turns = ["user", "assistant"].map((role) => ({ role, content: `${fresh("line")} of a file` }));
  const content = `${JSON.stringify({ messages: turns })}\n`;
  const part = (head: string, body: string): string =>
    `--${BOUNDARY}\r\ncontent-disposition: form-data; ${head}\r\n\r\n${body}\r\n`;
  const file = part('name="file"; filename="chats.jsonl"', content);
  const answer = await world.call({
    method: "POST",
    url: "/v1/files",
    headers: { "content-type": `multipart/form-data; boundary=${BOUNDARY}` },
    payload: `${part('name="purpose"', "fine-tune")}${file}--${BOUNDARY}--\r\n`,
  });
  expectAnswer(answer, 200);
  if (!done(answer)) return;
  const { id } = JSON.parse(answer.body) as { id: string };
  // Where the power is cut, it may have been before the answer.
  model.uploads.set(id, disk.wasCut ? [content, null] : [content]);
};

const deleteFile = async (stage: Stage): Promise<void> => {
  const { world, model, random, isAlone, isSure } = stage;
  const id = pick(random, [...model.uploads.keys(), "file-absent"]);
  const expected = statuses(model.uploads.get(id), [200]);
  const confirm = model.uploads.has(id) ? model.ask<string | null>(model.uploads, id, null, () => null) : () => {};
  const answer = await world.call({ method: "DELETE", url: `/v1/files/${id}` });
  expectAnswer(answer, ...expected, ...(isAlone ? [] : [200, 404]));
  if (isSure() && done(answer)) confirm();
};

const resubmitJobs = async ({ world, model, isSure }: Stage): Promise<void> => {
  model.ask(model.left, LEFT, 0, () => 0);
  const answer = await world.call({ method: "POST", url: "/jobs/resubmit" });
  expectAnswer(answer, 202);
  if (isSure() && done(answer)) model.left.set(LEFT, [(JSON.parse(answer.body) as { kept: number }).kept]);
};

const READS = ["/sessions", "/adapters", "/jobs", "/health", "/metrics", "/projects", "/models", "/v1/models"];

const read = async ({ world, model, random, isAlone }: Stage<Asked>): Promise<void> => {
  const url = pick(random, READS);
  const answer = await world.call({ method: "GET", url });
  expectAnswer(answer, 200);
  if (url === "/jobs" && isAlone && done(answer)) model.checkLeft(JSON.parse(answer.body).left.unstarted);
};

const chat = async (stage: Stage): Promise<void> => {
  const { world, model, random, isAlone } = stage;
  const adapter = anyAdapter(stage);
  const expected = statuses(model.adapters.get(adapter), [200]);
  const payload = { model: adapter, messages: [{ role: "user", content: "hello" }], stream: random() < 0.5 };
  const answer = await world.call({ method: "POST", url: "/v1/chat/completions", payload });
  expectAnswer(answer, ...expected, ...(isAlone ? [] : [200, 404]));
};

const letTimePass = async ({ world, random }: Stage): Promise<void> =>
  world.clock.advance(pick(random, [1, 1000, 60_000, 3_600_000]));

const DAY_MS = 86_400_000;

const shiftClock = async ({ world, random }: Stage): Promise<void> =>
  world.clock.shift(pick(random, [-400 * DAY_MS, -DAY_MS, -1, 1, DAY_MS, 400 * DAY_MS]));

/** What clients, the trainer and time do; each answers the session or adapter that it was about, if any. */
export const OPERATIONS = {
  importSession,
  labelSession,
  deleteSession,
  startTraining,
  startWork,
  cancelJob,
  moveTrainer,
  deleteAdapter,
  uploadFile,
  deleteFile,
  resubmitJobs,
  read,
  chat,
  letTimePass,
  shiftClock,
} satisfies Readonly<Record<string, (stage: Stage) => Promise<unknown>>>;

export const WEIGHTS: Readonly<Record<keyof typeof OPERATIONS, number>> = {
  importSession: 6,
  labelSession: 3,
  deleteSession: 3,
  startTraining: 5,
  startWork: 4,
  cancelJob: 2,
  moveTrainer: 12,
  deleteAdapter: 3,
  uploadFile: 2,
  deleteFile: 3,
  resubmitJobs: 1,
  read: 3,
  chat: 2,
  letTimePass: 2,
  shiftClock: 1,
};
