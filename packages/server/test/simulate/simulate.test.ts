import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { manualClock } from "../common/manual-clock.js";
import { pick, type Random } from "../support/from-schema.js";
import { createRandom } from "../support/random.js";
import { cut, DATABASE_FAULTS, disk, type Fault, FILE_FAULTS } from "./disk.js";
import { createModel } from "./model.js";
import { createFresh, OPERATIONS, WEIGHTS } from "./operations.js";
import { startWorld, type World } from "./world.js";

vi.mock("node:fs/promises", async (original) => (await import("./disk.js")).faultyFiles(await original()));
vi.mock("libsql", async (original) => {
  const { default: Database } = await original<{ default: typeof import("libsql") }>();
  return { default: (await import("./disk.js")).faultyDatabase(Database) };
});

/** `npm run simulate -- --seed 7 --steps 100000` sets them. */
const [STEPS = 800, SEED = 1] = (process.env.IMPRINT_SIMULATE ?? "").split(",").filter(Boolean).map(Number);

/** Of the disk, that a stop has: it writes what waits. */
const STOP_OPERATIONS = 2;

type Name = keyof typeof OPERATIONS;
const NAMES = (Object.keys(OPERATIONS) as Name[]).flatMap((name) => Array.from({ length: WEIGHTS[name] }, () => name));

/** Operations of the disk before a fault: most steps have some dozens. */
const soon = (random: Random, most = 40): number => Math.floor(random() ** 2 * most);

const faultFor = (random: Random, share: number, most?: number): Fault | null => {
  if (random() > share) return null;
  return { code: pick<Fault["code"]>(random, random() < 0.7 ? FILE_FAULTS : DATABASE_FAULTS), after: soon(random, most) };
};

/** How often each operation met each kind of fault: what was never asked is not proved. */
const createCoverage = () => {
  const counts = new Map<string, Map<string, number>>();
  return {
    counts,
    note(operations: readonly string[], faults: readonly string[]): void {
      for (const name of operations)
        for (const fault of faults.length > 0 ? faults : ["none"]) {
          const kind = fault.replace(/ of .*/, "");
          const row = counts.get(name) ?? new Map<string, number>();
          counts.set(name, row.set(kind, (row.get(kind) ?? 0) + 1));
        }
    },
    table: (): string =>
      [...counts]
        .map(
          ([name, row]) =>
            `${name}: ${[...row]
              .sort()
              .map(([kind, count]) => `${kind} ${count}`)
              .join(", ")}`,
        )
        .join("\n"),
  };
};

const createSimulation = async (seed: number, root: string) => {
  const random = createRandom(seed);
  const fresh = createFresh();
  const [clock, model, coverage] = [manualClock(), createModel(), createCoverage()];
  /** What the step does, for who reads of its failure. */
  let doing = "";
  let world: World = await startWorld(join(root, fresh("data")), clock);

  const restart = async (): Promise<void> => {
    const [atStop, atStart] = [faultFor(random, 0.3, STOP_OPERATIONS), faultFor(random, 0.7)];
    doing = `a stop with ${JSON.stringify(atStop)}, a start with ${JSON.stringify(atStart)}`;
    const kept = model.stop(world);
    await world.stop(atStop);
    if (disk.failed.length === 0) kept();
    coverage.note(["stop"], disk.failed.splice(0));
    world = await startWorld(world.dataDir, clock, atStart);
    coverage.note(["start"], disk.failed.splice(0));
    await model.auditStart(world);
  };

  /** One operation, or two at once. Answers what they were about. */
  const operate = async (
    isSure: () => boolean,
  ): Promise<{ readonly chosen: readonly Name[]; readonly about: readonly unknown[] }> => {
    const chosen = random() < 0.1 ? [pick(random, NAMES), pick(random, NAMES)] : [pick(random, NAMES)];
    const isAlone = chosen.length === 1;
    doing = `${chosen.join(" and ")} with ${JSON.stringify(disk.power ?? disk.fault)}`;
    model.begin();
    const stage = { world, model, random, fresh, isAlone, isSure: () => isAlone && isSure() };
    const about = await Promise.all(chosen.map((name) => OPERATIONS[name](stage)));
    await world.settle();
    return { chosen, about };
  };

  const cutPower = async (): Promise<void> => {
    const next = join(root, fresh("data"));
    const power = {
      after: soon(random),
      cut: (): void => {
        doing += `, which lost ${cut(next, random).join(", ")}`;
      },
    };
    disk.power = power;
    const { chosen } = await operate(() => !disk.wasCut);
    if (!disk.wasCut) power.cut(); // nothing reached it
    coverage.note(chosen, ["power cut"]);
    await world.remove();
    world = await startWorld(next, clock);
    await model.auditStart(world);
  };

  const goOn = async (): Promise<void> => {
    disk.fault = faultFor(random, 0.5);
    const { chosen, about } = await operate(() => true);
    disk.fault = null;
    const failed = disk.failed.splice(0);
    coverage.note(chosen, failed);
    for (const id of about)
      if (typeof id === "string") await (model.sessions.has(id) ? model.checkSession : model.checkAdapter)(world, id);
    if (failed.length > 0) await model.audit(world);
    await model.glance(world, failed);
  };

  return {
    coverage,
    async step(): Promise<void> {
      const chance = random();
      await (chance < 0.02 ? restart() : chance < 0.06 ? cutPower() : goOn()).catch((cause: unknown) => {
        throw new Error(`${doing}: ${cause instanceof Error ? cause.message : cause}`, { cause });
      });
    },
    end: () => world.remove(),
  };
};

test(`nothing that was acknowledged is lost, and nothing hangs, in ${STEPS} steps of seed ${SEED}`, {
  timeout: 60_000 + STEPS * 200,
}, async () => {
  const root = mkdtempSync(join(tmpdir(), "imprint-simulate-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));
  const simulation = await createSimulation(SEED, root);
  for (let step = 1; step <= STEPS; step += 1)
    await simulation.step().catch((cause: Error) => {
      throw new Error(`step ${step} of seed ${SEED}, ${cause.message}`, { cause });
    });
  await simulation.end();
  const { counts, table } = simulation.coverage;
  if (process.env.IMPRINT_SIMULATE) console.log(table());
  expect([...counts.keys()].sort()).toEqual([...new Set(NAMES), "start", "stop"].sort());
  const faults = [...counts.values()].flatMap((row) => [...row]).filter(([kind]) => kind !== "none");
  expect(faults.reduce((sum, [, count]) => sum + count, 0)).toBeGreaterThan(STEPS / 20);
});
