import { readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { makeNative } from "../../support/native.js";
import { useCluster } from "../../support/postgres.js";
import { build, type Process, startProcess } from "../../support/process.js";
import { createRandom } from "../../support/random.js";
import { makeFolder } from "../../support/service.js";

const cluster = useCluster();
beforeAll(build, 120_000);

/** All of them take minutes: IMPRINT_TEST_OPERATIONS=10000. */
const OPERATIONS = Number(process.env.IMPRINT_TEST_OPERATIONS ?? 320);
const WORKERS = 8;

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of a dozen routes
  readonly body: any;
}

type Call = (path: string, method?: string, payload?: object | string | FormData) => Promise<Answer>;

const callsOf =
  (service: Process): Call =>
  async (path, method = "GET", payload) => {
    const body = payload instanceof FormData || typeof payload === "string" ? payload : payload && JSON.stringify(payload);
    const headers = payload === undefined || payload instanceof FormData ? {} : { "content-type": "application/json" };
    const answer = await service.fetch(path, { method, headers, ...(body === undefined ? {} : { body }) });
    const text = await answer.text();
    return { status: answer.status, body: text === "" ? null : JSON.parse(text) };
  };

/** The job once it has ended: so does the stream of its events. */
const ended = async (service: Process, job: string): Promise<{ readonly status: string; readonly error?: string }> => {
  await (await service.fetch(`/jobs/${job}/events`)).text();
  return (await service.fetch(`/jobs/${job}`)).json() as Promise<{ status: string; error?: string }>;
};

/** What was acknowledged. */
interface Known {
  readonly sessions: Map<string, string>;
  readonly files: Set<string>;
  /** By id: how many jobs were told that they made it. */
  readonly adapters: Map<string, number>;
}

/** One client: each of its sessions and files is its own, and each call goes to one of the services by chance. */
const workOn = async (
  worker: number,
  { services, known, count }: { readonly services: readonly [Process, Process]; readonly known: Known; readonly count: number },
): Promise<void> => {
  const random = createRandom(worker + 1);
  const calls = [callsOf(services[0]), callsOf(services[1])] as const;
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const mine = new Map<string, string>();
  const files: string[] = [];
  const either: Call = (...call) => pick(calls)(...call);
  const both = (...call: Parameters<Call>) => Promise.all(calls.map((one) => one(...call)));
  const ok = ({ status, body }: Answer, ...wanted: number[]): void => expect(wanted, JSON.stringify(body)).toContain(status);
  let made = 0;

  const importOne = async (): Promise<void> => {
    const id = `w${worker}-${made++}`;
    const answers =
      random() < 0.3 ? await both("/sessions", "POST", makeNative(id)) : [await either("/sessions", "POST", makeNative(id))];
    expect(answers.map(({ status }) => status).sort()).toEqual(answers.length === 2 ? [200, 201] : [201]);
    for (const { body } of answers) expect(body.session_id).toBe(id);
    mine.set(id, "success");
  };

  const train = async (): Promise<void> => {
    const id = `a${worker}-${made++}`;
    const [session = ""] = mine.keys();
    const started = await both("/train/lora", "POST", { session_id: session, adapter_id: id, include_unsuccessful: true });
    const jobs = started.flatMap(({ status, body }, at) => (status === 200 ? [{ at, id: body.job_id as string }] : []));
    const ends = await Promise.all(jobs.map(({ at, id: job }) => ended(services[at] as Process, job)));
    const completed = ends.filter(({ status }) => status === "completed");
    known.adapters.set(id, completed.length);
    for (const end of ends.filter(({ status }) => status !== "completed")) expect(end.error).toMatch(/adapter|folder/i);
  };

  for (let done = 0; done < count; done += 1) {
    const chance = random();
    const id = mine.size === 0 ? undefined : pick([...mine.keys()]);
    if (id === undefined || chance < 0.3) await importOne();
    else if (chance < 0.5) {
      const outcome = pick(["success", "failure", "unknown"]);
      ok(await either(`/sessions/${id}`, "PATCH", { outcome }), 200);
      mine.set(id, outcome);
    } else if (chance < 0.6) {
      const answers = random() < 0.3 ? await both(`/sessions/${id}`, "DELETE") : [await either(`/sessions/${id}`, "DELETE")];
      expect(answers.map(({ status }) => status).sort()).toEqual(answers.length === 2 ? [204, 404] : [204]);
      mine.delete(id);
    } else if (chance < 0.75) {
      const answer = await either(`/sessions/${id}`);
      ok(answer, 200);
      expect(answer.body.outcome).toBe(mine.get(id));
    } else if (chance < 0.8) ok(await either(`/sessions?prefix=w${worker}&limit=20`), 200);
    else if (chance < 0.92) {
      const form = new FormData();
      form.set("purpose", "fine-tune");
      form.set("file", new Blob(['{"messages":[]}\n']), "x.jsonl");
      const answer = await either("/v1/files", "POST", form);
      ok(answer, 200);
      files.push(answer.body.id);
    } else if (chance < 0.97 && files.length > 0) {
      const answers = await both(`/v1/files/${files.pop()}`, "DELETE");
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
    } else if (chance < 0.98) await train();
    else ok(await either("/adapters"), 200);
  }
  for (const [id, outcome] of mine) known.sessions.set(id, outcome);
  for (const file of files) known.files.add(file);
};

const pagesOf = async (call: Call, path: string, field: string): Promise<readonly Record<string, string>[]> => {
  const found: Record<string, string>[] = [];
  for (let after = ""; ; ) {
    const { body } = await call(`${path}?limit=100${after}`);
    found.push(...body[field]);
    if (body.next === null) return found;
    after = `&after=${encodeURIComponent(body.next)}`;
  }
};

test(`two services lose and double nothing in ${OPERATIONS} operations at once`, { timeout: 3_600_000 }, async () => {
  const folder = makeFolder();
  const url = await cluster().create();
  const env = { IMPRINT_DATABASE_URL: url, IMPRINT_KEEP_FINISHED: "10000" };
  const services = [await startProcess(folder, { env }), await startProcess(folder, { env })] as const;
  const calls = [callsOf(services[0]), callsOf(services[1])] as const;
  const known: Known = { sessions: new Map(), files: new Set(), adapters: new Map() };
  const count = OPERATIONS / WORKERS;
  await Promise.all(Array.from({ length: WORKERS }, (_, worker) => workOn(worker, { services, known, count })));

  const database = new URL(url).pathname.slice(1);
  const rows = async (table: string, column: string) =>
    (await cluster().query(`select ${column} as id from ${table} order by seq`, database)).map(({ id }) => String(id)).sort();
  const made = [...known.adapters].filter(([, times]) => times > 0).map(([id]) => id);
  expect(await rows("sessions", "session_id")).toEqual([...known.sessions.keys()].sort());
  expect(readdirSync(join(folder, "data", "sessions")).sort()).toEqual(
    [...known.sessions.keys()].map((id) => `${id}.json`).sort(),
  );
  expect(await rows("uploads", "file_id")).toEqual([...known.files].sort());
  expect(readdirSync(join(folder, "data", "uploads")).sort()).toEqual([...known.files].sort());
  expect([...known.adapters.values()].every((times) => times === 1)).toBe(true);
  expect(await rows("adapters", "adapter_id")).toEqual(made.sort());
  for (const call of calls) {
    const sessions = await pagesOf(call, "/sessions", "sessions");
    expect(new Map(sessions.map((one) => [one.session_id, one.outcome]))).toEqual(known.sessions);
    expect(sessions).toHaveLength(known.sessions.size);
    const adapters = await pagesOf(call, "/adapters", "adapters");
    expect(adapters.map((one) => `${one.adapter_id} ${one.health}`).sort()).toEqual(made.map((id) => `${id} ok`).sort());
  }
});
