import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { JobPhase } from "@imprint/contracts";
import Libsql from "libsql";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { findRepoRoot } from "../../src/config/setup.js";
import { createModel } from "../simulate/model.js";
import { createFresh } from "../simulate/operations.js";
import { pick } from "../support/from-schema.js";
import { prepared } from "../support/prepared.js";
import { build } from "../support/process.js";
import { createRandom } from "../support/random.js";
import { makeFolder } from "../support/service.js";
import { type Shift, train, WORK } from "./work.js";
import { startKillable, type Victim } from "./world.js";

beforeAll(build, 120_000);

/** `IMPRINT_SOAK=50,7 npm run soak` sets them. */
const [KILLS = 200, SEED = 1] = (process.env.IMPRINT_SOAK ?? "").split(",").filter(Boolean).map(Number);

const HUB = `
import sys, hub_double
from pathlib import Path
files = {one.name: one.read_bytes() for one in Path(sys.argv[1]).iterdir() if one.is_file()}
with hub_double.hub_double(files=files) as hub:
    print(hub.url, flush=True)
    sys.stdin.read()
`;

/** A hub on this machine that has the default model under another name. */
const startHub = async (): Promise<string> => {
  const { python, default_model, models } = prepared();
  const cwd = join(findRepoRoot(), "trainer", "tests");
  const child = spawn(python, ["-c", HUB, models[default_model] ?? ""], { cwd, stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const said = await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  return String(said[0]).trim();
};

/** How often each work was cut in each of its phases by each kill. */
const createTally = () => {
  const counts = new Map<string, number>();
  return {
    note: (what: string) => void counts.set(what, (counts.get(what) ?? 0) + 1),
    table: () =>
      [...counts]
        .map(([what, count]) => `${what}: ${count}`)
        .sort()
        .join("\n"),
  };
};

test(`${KILLS} kills of the service or its trainer at random moments, of seed ${SEED}, lose nothing`, {
  timeout: 120_000 + KILLS * 60_000,
}, async () => {
  const folder = makeFolder();
  const random = createRandom(SEED);
  const env = { HF_ENDPOINT: await startHub() };
  const [model, tally] = [createModel(), createTally()];
  const fresh = createFresh();
  const made: Shift["made"] = new Map();
  let world = await startKillable(folder, { env });
  let [job, isKilled, slowest] = ["", false, 0];
  const shift = (): Shift => ({
    ...{ world, model, random, fresh, made, isAlone: true },
    isSure: () => !isKilled,
    began: (id) => {
      job = id;
    },
  });

  /** Waits for the moment of the kill; the phase that the job is in then. */
  const moment = async ({ phases = [], longest = 0 }: (typeof WORK)[string], isOver: () => boolean): Promise<string> => {
    const awaited = pick<JobPhase | null>(random, phases.length > 0 ? phases : [null]);
    if (awaited === null) return delay(random() * longest, "");
    const phaseNow = async () => (job === "" ? null : (await world.client.jobs.details(job)).phase);
    while (!isOver() && (await phaseNow()) !== awaited) await delay(5);
    await delay(random() * 400);
    return isOver() ? "over" : String(await phaseNow());
  };

  const audit = async (): Promise<void> => {
    await model.audit(world);
    for (const [adapter, paths] of made)
      for (const path of paths) {
        const isThere = (model.adapters.get(adapter) ?? []).every((state) => state === "registered");
        expect([path, (await world.call({ url: `/adapters/${adapter}/${path}` })).status]).toEqual([path, isThere ? 200 : 404]);
      }
  };

  await train(shift());
  expect(model.registered()).toHaveLength(1);
  const all = Object.entries(WORK).flatMap(([name, work]) => Array.from({ length: work.weight }, () => ({ name, work })));
  for (let kills = 0; kills < KILLS; ) {
    const isPoor = model.registered().length === 0;
    const { name, work } = pick(random, isPoor ? all.filter((one) => one.name === "training and proof") : all);
    const victim = pick<Victim>(random, work.phases || name === "preview" ? ["service", "trainer"] : ["service"]);
    [job, isKilled] = ["", false];
    model.begin();
    let isOver = false;
    const working = work
      .run(shift())
      .catch((error: unknown) => {
        // Who asked a killed service has no answer; of a killed trainer the service tells.
        if (!isKilled || (victim === "trainer" && work.phases)) throw error;
      })
      .finally(() => {
        isOver = true;
      });
    const phase = await moment(work, () => isOver);
    isKilled = true;
    const killed = await world.kill(victim);
    await working;
    tally.note(`${name}${phase && `, ${phase}`}: ${killed ? victim : "no trainer ran"}`);
    kills += Number(killed);
    if (victim === "service") {
      slowest = Math.max(slowest, world.slowest());
      world = await startKillable(folder, { env });
      await model.auditStart(world);
    }
    await audit();
    console.log(`${kills} of ${KILLS}: ${name}, ${phase}, ${victim}`);
  }

  slowest = Math.max(slowest, world.slowest());
  await world.kill("service");
  const file = new Libsql(join(world.dataDir, "registry.db"));
  expect(file.prepare("pragma integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
  file.close();
  console.log(`${tally.table()}\nslowest health check: ${Math.round(slowest)} ms`);
  expect(slowest).toBeLessThan(500);
});
