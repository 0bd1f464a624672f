import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Outcome, Session, SessionSummary } from "@imprint/contracts";
import { beforeAll, expect, test } from "vitest";
import { build, type Process, startProcess } from "../support/process.js";
import { makeFolder, type Service, startService } from "../support/service.js";

const ID = "5b0f6d1e-9c44-4a7b-8f12-7413c0ffee02";
const OUTCOMES: readonly Outcome[] = ["success", "failure", "unknown"];

/** A recording of so many turns that grows by its end, as an agent writes it. */
const recording = (turns: number, filler = ""): string =>
  Array.from({ length: turns }, (_, at) => {
    const type = at % 2 === 0 ? "user" : "assistant";
    const message = { role: type, content: `Turn ${at}. ${filler}`, ...(type === "assistant" ? { id: `m${at}` } : {}) };
    const timestamp = new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString();
    const parentUuid = at === 0 ? null : `u${at - 1}`;
    return `${JSON.stringify({ type, uuid: `u${at}`, parentUuid, sessionId: ID, timestamp, message })}\n`;
  }).join("");

interface Answer {
  readonly status: number;
  readonly body: SessionSummary;
}

/** The calls of one service, however it runs. */
interface Calls {
  readonly dataDir: string;
  call(method: "GET" | "POST" | "PATCH" | "DELETE", path: string, payload?: object | string): Promise<Answer>;
}

/** A deletion is answered without a body, which nobody looks at. */
const bodyOf = (text: string): SessionSummary => JSON.parse(text === "" ? "null" : text);

const callsOf = (service: Service): Calls => ({
  dataDir: service.dataDir,
  call: async (method, url, payload) => {
    const headers = { "content-type": typeof payload === "string" ? "application/x-ndjson" : "application/json" };
    const answer = await service.call({ method, url, ...(payload === undefined ? {} : { payload, headers }) });
    return { status: answer.statusCode, body: bodyOf(answer.body) };
  },
});

const callsOfProcess = (service: Process, dataDir: string): Calls => ({
  dataDir,
  call: async (method, path, payload) => {
    const headers = { "content-type": typeof payload === "string" ? "application/x-ndjson" : "application/json" };
    const body = typeof payload === "string" ? payload : JSON.stringify(payload);
    const answer = await service.fetch(path, { method, ...(payload === undefined ? {} : { body, headers }) });
    return { status: answer.status, body: bodyOf(await answer.text()) };
  },
});

const turnsOf = ({ user_turns, assistant_turns }: SessionSummary): number => user_turns + assistant_turns;

/**
 * Rounds of a label, two imports of what the session has become and now and then a deletion, all at once. After each round the
 * file, the index and the answers tell of the same session: the longest that was acknowledged, with the label that was.
 */
const race = async ({ dataDir, call }: Calls, rounds: number, filler = ""): Promise<void> => {
  const one = `/sessions/${ID}`;
  const send = (turns: number) => call("POST", "/sessions", recording(turns, filler));
  let turns = 2;
  let label: Outcome = "unknown";
  await send(turns);
  for (let round = 1; round <= rounds; round += 1) {
    const outcome = OUTCOMES[round % 3] as Outcome;
    const isDeleting = round % 20 === 0;
    const [short, long] = [turns + 1, turns + 2];
    const [labelled, shorter, longer] = await Promise.all([
      call("PATCH", one, { outcome }),
      send(short),
      send(long),
      ...(isDeleting ? [call("DELETE", one)] : []),
    ]);
    for (const { status } of [shorter, longer]) expect([200, 201]).toContain(status);
    const got = await call("GET", one);
    const { sessions } = (await call("GET", "/sessions")).body as unknown as { readonly sessions: readonly SessionSummary[] };
    if (got.status === 404) {
      expect([isDeleting, sessions]).toEqual([true, []]);
    } else {
      const file = JSON.parse(readFileSync(join(dataDir, "sessions", `${ID}.json`), "utf8")) as Session;
      expect([sessions, file.outcome, file.steps.length]).toEqual([[got.body], got.body.outcome, turnsOf(got.body)]);
    }
    if (isDeleting) {
      turns = 2;
      label = "unknown";
      await call("DELETE", one);
      await send(turns);
    } else {
      expect([round, labelled.status, got.status]).toEqual([round, 200, 200]);
      turns = long;
      label = outcome;
      expect([round, turnsOf(got.body), got.body.outcome]).toEqual([round, turns, label]);
    }
  }
};

test("500 rounds of a label beside imports of a session that grows lose neither turns nor the label", async () => {
  await race(callsOf(await startService()), 500);
}, 120_000);

test("nor do rounds of recordings that another process reads", async () => {
  const folder = makeFolder();
  await race(callsOfProcess(await startProcess(folder), join(folder, "data")), 60, "x".repeat(40_000));
}, 120_000);

beforeAll(build, 120_000);
