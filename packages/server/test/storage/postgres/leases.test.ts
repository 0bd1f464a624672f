import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import pg from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { createDiscards } from "../../../src/storage/discards.js";
import type { Leases } from "../../../src/storage/leases.js";
import { sweepServices } from "../../../src/storage/life.js";
import { dataPaths, ensureDataPaths } from "../../../src/storage/paths.js";
import { createPostgresLeases, lockNumber } from "../../../src/storage/postgres/leases.js";
import { useCluster } from "../../support/postgres.js";
import { makeFolder } from "../../support/service.js";

const cluster = useCluster();

const make = async (url?: string) => {
  const address = url ?? (await cluster().create());
  const onLost = vi.fn();
  const leasesOf = (): Leases => {
    const leases = createPostgresLeases({ url: address, onLost });
    onTestFinished(() => leases.close());
    return leases;
  };
  return { url: address, onLost, left: leasesOf(), right: leasesOf() };
};

const endConnections = (url: string) =>
  cluster().query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${new URL(url).pathname.slice(1)}' and pid <> pg_backend_pid()`,
  );

test("a name is one service's until it lets go as often as it took, or is gone", async () => {
  const { left, right } = await make();
  expect([await left.take("a"), await left.take("a"), await right.take("a"), await right.take("b")]).toEqual([
    true,
    true,
    false,
    true,
  ]);
  await left.release("a");
  expect(await right.take("a")).toBe(false);
  await left.release("a");
  expect(await right.take("a")).toBe(true);
  expect(await left.take("a")).toBe(false);
  await right.close();
  await vi.waitFor(async () => expect(await left.take("a")).toBe(true));
});

test("work that holds names is alone with them, in whatever order they are named", async () => {
  const { left, right } = await make();
  let [inside, most, done] = [0, 0, 0];
  const work = async (): Promise<void> => {
    inside += 1;
    most = Math.max(most, inside);
    await turn();
    inside -= 1;
    done += 1;
  };
  // In one service a keyed lock stands before; here each service has one work at a time.
  const rounds = async (leases: Leases, names: readonly string[]): Promise<void> => {
    for (let round = 0; round < 20; round += 1) await leases.hold(names, work);
  };
  await Promise.all([rounds(left, ["a", "b"]), rounds(right, ["b", "a"])]);
  expect([most, done]).toEqual([1, 40]);
});

const locks = async (url: string): Promise<number> => {
  const name = new URL(url).pathname.slice(1);
  const [row] = await cluster().query("select count(*)::int as held from pg_locks where locktype = 'advisory' and granted", name);
  return Number(row?.held);
};

test("a lost connection is made again, and takes what it had", async () => {
  const { url, left, right, onLost } = await make();
  await left.take("kept");
  await left.take("let go of");
  await endConnections(url);
  await vi.waitFor(async () => expect(await locks(url)).toBe(2), { timeout: 10_000 });
  await left.release("let go of");
  expect([await right.take("kept"), await right.take("let go of")]).toEqual([false, true]);
  expect(onLost).not.toHaveBeenCalled();
});

/** A lease that somebody else gets when its connection is lost. */
const losing = async () => {
  const { url, left, right, onLost } = await make();
  await left.take("kept");
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  onTestFinished(() => other.end());
  // Stands in line, and is next when the connection is lost.
  const taken = other.query(`select pg_advisory_lock(${lockNumber("kept")})`);
  await vi.waitFor(async () => {
    const waiting = await cluster().query("select pid from pg_locks where locktype = 'advisory' and not granted");
    expect(waiting).toHaveLength(1);
  });
  await cluster().query("select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted");
  await taken;
  return { url, other, right, onLost };
};

test("what another one took while the connection was lost is told", async () => {
  const { onLost } = await losing();
  await vi.waitFor(() => expect(onLost).toHaveBeenCalledWith(["kept"]), { timeout: 10_000 });
});

test("what another one had for a moment alone is taken again, and nothing is told", async () => {
  const { url, other, right, onLost } = await losing();
  await other.query(`select pg_advisory_unlock(${lockNumber("kept")})`);
  await vi.waitFor(async () => expect(await locks(url)).toBe(1), { timeout: 10_000 });
  expect(await right.take("kept")).toBe(false);
  expect(onLost).not.toHaveBeenCalled();
});

test("the folder of a service is discarded once nobody has its lease and it shows no life", async () => {
  const { left, right } = await make();
  const root = makeFolder();
  const paths = dataPaths(root, "me");
  ensureDataPaths(paths);
  const old = new Date(Date.now() - 3_600_000);
  for (const id of ["gone", "quiet", "lively"]) {
    mkdirSync(join(paths.services, id, "staging"), { recursive: true });
    writeFileSync(join(paths.services, id, "alive"), "");
    if (id !== "lively") utimesSync(join(paths.services, id, "alive"), old, old);
  }
  await right.take("service:quiet");
  const discards = createDiscards({ root: paths.own, onError: (error) => expect.unreachable(String(error)) });
  expect(await sweepServices({ paths, leases: left, discards, now: Date.now() })).toEqual(["gone"]);
  const left_ = ["gone", "quiet", "lively", "me"].filter((id) => existsSync(join(paths.services, id)));
  expect(left_).toEqual(["quiet", "lively", "me"]);
  await discards.close();
});
