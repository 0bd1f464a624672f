import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { JobStatus, Outcome } from "@imprint/contracts";
import { expect } from "vitest";
import { isTerminal } from "../../src/jobs/status.js";
import { type Asked, placesOf, type World } from "./world.js";

// What clients were told, and may hold the service to.

/** A session by what its clients decide: how much of its recording is stored, and its label. */
export interface Stored {
  readonly turns: number;
  readonly outcome: Outcome;
}

/** What may be there now. One: it was acknowledged. Several: what was asked of it was not answered, or with a failure. */
type Known<State> = Map<string, readonly State[]>;

type AdapterState = "registered" | "absent";

const line = (session: string, at: number): string =>
  JSON.stringify({
    type: at % 2 === 0 ? "user" : "assistant",
    uuid: `${session}-${at}`,
    parentUuid: at === 0 ? null : `${session}-${at - 1}`,
    sessionId: session,
    timestamp: new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString(),
    cwd: "/repo",
    message:
      at % 2 === 0
        ? { role: "user", content: `Ask ${at} of ${session}` }
        : { role: "assistant", id: `m${at}`, content: [{ type: "text", text: `Answer ${at} of ${session}` }] },
  });

/** The recording of a session after so many turns of a person and the agent. */
export const recordingOf = (session: string, turns: number): string =>
  `${Array.from({ length: 2 * turns }, (_, at) => line(session, at)).join("\n")}\n`;

const distinct = <State>(states: readonly State[]): readonly State[] => [
  ...new Map(states.map((state) => [JSON.stringify(state), state])).values(),
];

/** The one key of what jobs are left. */
export const LEFT = "left";

export const createModel = () => {
  const sessions: Known<Stored | null> = new Map();
  const adapters: Known<AdapterState> = new Map();
  /** Those that are listed no more, and keep their files until they are purged. */
  const archived = new Set<string>();
  const uploads: Known<string | null> = new Map();
  /** How many jobs a stop left unstarted. */
  const left: Known<number> = new Map([[LEFT, [0]]]);
  const asked = new Map<string, unknown[]>();
  const statuses = new Map<string, JobStatus>();

  const sessionNow = async (world: Asked, id: string): Promise<Stored | null> => {
    const summary = await world.call({ method: "GET", url: `/sessions/${id}` });
    if (summary.status === 404) return null;
    const content = await world.call({ method: "GET", url: `/sessions/${id}/content` });
    expect([summary.status, content.status], `session ${id}: ${summary.body} ${content.body}`).toEqual([200, 200]);
    const { steps } = JSON.parse(content.body) as { steps: { text: string }[] };
    expect(steps.map(({ text }) => text)).toEqual(steps.map((_, at) => `${at % 2 === 0 ? "Ask" : "Answer"} ${at} of ${id}`));
    return { turns: steps.length / 2, outcome: (JSON.parse(summary.body) as { outcome: Outcome }).outcome };
  };

  const adapterNow = async (world: Asked, id: string): Promise<AdapterState> => {
    const { status, body } = await world.call({ method: "POST", url: `/adapters/${id}/verify` });
    if (status === 404) return "absent";
    expect([status, (JSON.parse(body) as { health: string }).health], `adapter ${id}: ${body}`).toEqual([200, "ok"]);
    return "registered";
  };

  const uploadNow = async (world: Asked, id: string): Promise<string | null> => {
    const { status, body } = await world.call({ method: "GET", url: `/v1/files/${id}/content` });
    expect([200, 404], body).toContain(status);
    return status === 404 ? null : body;
  };

  const leftNow = async (world: Asked): Promise<number> => {
    const { status, body } = await world.call({ method: "GET", url: "/jobs?limit=1" });
    expect(status, body).toBe(200);
    return (JSON.parse(body) as { left: { unstarted: number } }).left.unstarted;
  };

  /** What is there is one of what may be; from now on it is that. */
  const hold = async <State>(known: Known<State>, id: string, now: (id: string) => Promise<State>): Promise<void> => {
    const possible = known.get(id) ?? [];
    const found = await now(id);
    expect(possible, `of ${id} there is ${JSON.stringify(found)}, and not one of ${JSON.stringify(possible)}`).toContainEqual(
      found,
    );
    known.set(id, [found]);
  };
  /** What is surely gone is asked no more: that it stays away is what lists, and the folders at a start, tell. */
  const forgetGone = (): void => {
    for (const known of [sessions, adapters, uploads] as Known<unknown>[])
      for (const [id, [state, ...others]] of known)
        if (others.length === 0 && (state === null || state === "absent")) known.delete(id);
  };

  /** A training that goes on may still make its adapter. */
  const holdAdapter = async (world: Asked, id: string): Promise<void> => {
    await hold(adapters, id, (one) => adapterNow(world, one));
    if ((await world.making()).has(id)) adapters.set(id, ["absent", "registered"]);
  };

  return {
    sessions,
    adapters,
    archived,
    uploads,
    left,
    /** Those that may be there. */
    stored: (): readonly string[] => [...sessions].filter(([, states]) => states.some((one) => one !== null)).map(([id]) => id),
    registered: (): readonly string[] => [...adapters].filter(([, states]) => states.includes("registered")).map(([id]) => id),
    /** Nothing that was asked before is under way. */
    begin: () => asked.clear(),
    /**
     * Something is asked of it, after which it is as `change` says, or as it was, in any order with what else is asked of it in
     * this step. The answer, once it is surely done, says so.
     */
    ask<State>(known: Known<State>, id: string, unknown: State, change: (state: State) => State): () => void {
      const before = known.get(id) ?? [unknown];
      const changes = [...((asked.get(id) ?? []) as (typeof change)[]), change];
      asked.set(id, changes);
      let states = before;
      for (const _each of changes) states = distinct([...states, ...states.flatMap((state) => changes.map((one) => one(state)))]);
      known.set(id, states);
      return () => known.set(id, distinct(before.map(change)));
    },
    /** What was read of the jobs that are left, under whatever fault, is so. */
    checkLeft: (count: number) => expect(left.get(LEFT)).toContain(count),
    checkSession: (world: Asked, id: string) => hold(sessions, id, (one) => sessionNow(world, one)),
    checkAdapter: holdAdapter,
    /** What must hold after every step. */
    async glance(world: World, failed: readonly string[]): Promise<void> {
      const health = await world.call({ method: "GET", url: "/health" });
      expect(health.status).toBe(200);
      const { jobs } = world.server.jobs.list({ limit: 1000 });
      for (const { kinds, most } of [placesOf("lora"), placesOf("export")])
        expect(jobs.filter(({ kind, status }) => kinds(kind) && status === "running").length).toBeLessThanOrEqual(most);
      for (const { job_id, kind, status, error, request } of jobs) {
        const before = statuses.get(job_id);
        const adapter = String(request.adapter_id);
        if (kind === "lora" && before === undefined && !isTerminal(status)) adapters.set(adapter, ["absent", "registered"]);
        if (kind === "lora" && status !== before && (adapters.get(adapter)?.length ?? 0) > 1) {
          if (status === "completed") adapters.set(adapter, ["registered"]);
          if (status === "failed" || status === "cancelled") adapters.set(adapter, ["absent"]);
        }
        if (before && isTerminal(before)) expect(status, `${job_id} had ended`).toBe(before);
        if (before === "running") expect(status, `${job_id} ran`).not.toBe("queued");
        if (error?.code === "INTERNAL_ERROR" && status !== before) expect(failed, `${job_id}: ${error.message}`).not.toEqual([]);
        statuses.set(job_id, status);
      }
    },
    /** All that was acknowledged is there, and nothing else is listed. */
    async audit(world: Asked): Promise<void> {
      for (const id of sessions.keys()) await this.checkSession(world, id);
      for (const id of adapters.keys()) await this.checkAdapter(world, id);
      for (const id of uploads.keys()) await hold(uploads, id, (one) => uploadNow(world, one));
      await hold(left, LEFT, () => leftNow(world));
      const list = async (what: string): Promise<readonly Record<string, string>[]> => {
        const { status, body } = await world.call({ method: "GET", url: `/${what}?limit=1000` });
        expect(status, body).toBe(200);
        return JSON.parse(body)[what];
      };
      expect((await list("sessions")).map(({ session_id }) => session_id).sort()).toEqual([...this.stored()].sort());
      const listed = (await list("adapters")).map(({ adapter_id }) => adapter_id);
      const surely = [...adapters].filter(([, states]) => !states.includes("absent")).map(([id]) => id);
      expect(listed.sort()).toEqual(surely.sort());
      forgetGone();
    },
    /** A stop is to keep what waits; what it answers says that it did. */
    stop(world: World): () => void {
      asked.clear();
      const { jobs } = world.server.jobs.list({ status: "queued", limit: 1000 });
      return this.ask(left, LEFT, 0, (count) => count + jobs.length);
    },
    /** A start has cleared what an earlier run left, and the rest is there. */
    async auditStart(world: Asked): Promise<void> {
      statuses.clear(); // jobs are forgotten with their service
      const namesIn = (...folder: string[]): string[] => readdirSync(join(world.dataDir, ...folder));
      expect(namesIn("adapters", ".staging")).toEqual([]);
      expect([...namesIn("incoming"), ...namesIn("sessions").filter((name) => name.startsWith("."))]).toEqual([]);
      await this.audit(world);
      const kept = [...uploads].filter(([, [content]]) => content !== null).map(([id]) => id);
      expect(namesIn("uploads").sort()).toEqual(kept.sort());
    },
  };
};

export type Model = ReturnType<typeof createModel>;
