import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Step } from "@imprint/contracts";
import { pino } from "pino";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import type * as Store from "../../src/sessions/store.js";
import { openDatabase } from "../../src/storage/open.js";
import { dataPaths, ensureDataPaths } from "../../src/storage/paths.js";
import { build } from "../support/process.js";
import { makeFolder } from "../support/service.js";
import { makeSession, putSession } from "../support/session.js";

beforeAll(build, 120_000);

/** As compiled: beside the sources there is no program to start. */
const compiled = (): Promise<typeof Store> => import(new URL("../../dist/sessions/store.js", import.meta.url).href);

const stepsOf = (count: number, text: string): Step[] =>
  Array.from({ length: count }, (_, at) => ({ source: at % 2 === 0 ? "user" : "agent", text }));

/** Machines that are busy with other things take some of it. Reading these files here took 1 s and more. */
const STANDSTILL_MS = 250;

test.each([
  ["a session of 64 MB", 1000, "The gate takes the ports 7001 to 7042. ".repeat(1640)],
  ["a session of a million steps", 1_000_000, "x"],
])(
  "%s is summarised, staged and labelled while other requests are answered",
  { timeout: 120_000 },
  async (_name, count, text) => {
    const paths = dataPaths(makeFolder());
    ensureDataPaths(paths);
    const database = openDatabase({ path: paths.database });
    onTestFinished(() => database.destroy());
    const { createSessionStore } = await compiled();
    const sessions = createSessionStore({ database, paths, limit: 1e9, log: pino({ level: "silent" }), now: () => new Date() });
    onTestFinished(() => sessions.close());
    putSession(paths.root, "s", makeSession("s", { steps: stepsOf(count, text), outcome: "unknown" }));

    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    expect(await sessions.summary("s")).toMatchObject({ assistant_turns: count / 2, outcome: "unknown" });
    await sessions.stage({ sessionIds: ["s"], folder: join(paths.staging, "by-hand"), skipInvalid: false });
    expect(await sessions.label("s", "success")).toMatchObject({ outcome: "success" });
    await sessions.stage({ sessionIds: ["s"], folder: join(paths.staging, "labelled"), skipInvalid: false });
    expect((await sessions.list({ limit: 1 })).sessions).toEqual([await sessions.summary("s")]);
    delay.disable();
    expect(delay.max / 1e6).toBeLessThan(STANDSTILL_MS);
  },
);
