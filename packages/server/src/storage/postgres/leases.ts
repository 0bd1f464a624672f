import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Leases } from "../leases.js";
import { clientConfig } from "./address.js";
import { asDatabaseError } from "./failures.js";

const RETRY_MS = 20;
const LOST_TRIES = 4;
const LOST_WAIT_MS = 250;
const RECONNECT_MS = [100, 500, 2_000, 5_000] as const;

/** Advisory locks are 64-bit numbers. https://www.postgresql.org/docs/15/explicit-locking.html#ADVISORY-LOCKS */
export const lockNumber = (name: string): string =>
  createHash("sha256").update(`imprint:${name}`).digest().readBigInt64BE().toString();

const TAKE = "select key, pg_try_advisory_lock(key) as taken from unnest($1::bigint[]) as key";
const RELEASE = "select pg_advisory_unlock(key) from unnest($1::bigint[]) as key";

/** Leases as advisory locks of one connection: they end with it. */
export const createPostgresLeases = ({
  url,
  onLost,
}: {
  readonly url: string;
  /** Hears of names that another service took while the connection was lost. */
  readonly onLost: (names: readonly string[]) => void;
}): Leases => {
  const held: string[] = [];
  let connection: Promise<pg.Client> | null = null;
  const closing = new AbortController();

  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client(clientConfig(url));
    client.on("error", () => undefined);
    await client.connect();
    client.once("end", () => {
      connection = null;
      if (!closing.signal.aborted && held.length > 0) void reconnect();
    });
    const missing = await tryAll(client, held);
    // Where the connection ends meanwhile, the next one begins anew.
    if (missing.length > 0) void retake(client, missing).catch(() => undefined);
    return client;
  };

  /** Another service that looks who has a name has it for a moment itself: what is not free after several tries is lost. */
  const retake = async (client: pg.Client, missing: readonly string[]): Promise<void> => {
    let lost = missing;
    for (let attempt = 0; attempt < LOST_TRIES && lost.length > 0; attempt += 1) {
      await delay(LOST_WAIT_MS, undefined, { signal: closing.signal, ref: false });
      const wanted = lost.filter((name) => held.includes(name));
      lost = await tryAll(client, wanted);
      const released = wanted.filter((name) => !lost.includes(name) && !held.includes(name));
      if (released.length > 0) await client.query(RELEASE, [released.map(lockNumber)]);
    }
    if (lost.length > 0) onLost(lost);
  };

  const connected = (): Promise<pg.Client> => {
    if (connection === null) {
      const made = connect();
      connection = made;
      made.catch(() => {
        if (connection === made) connection = null;
      });
    }
    return connection;
  };

  const reconnect = async (): Promise<void> => {
    for (let attempt = 0; !closing.signal.aborted; attempt += 1) {
      const wait = RECONNECT_MS[Math.min(attempt, RECONNECT_MS.length - 1)];
      const isOver = await delay(wait, false, { signal: closing.signal, ref: false }).catch(() => true);
      if (isOver) return;
      const isBack = await connected().then(
        () => true,
        () => false,
      );
      if (isBack) return;
    }
  };

  /** Takes what is free, and answers what is not. */
  const tryAll = async (client: pg.Client, names: readonly string[]): Promise<readonly string[]> => {
    if (names.length === 0) return [];
    const { rows } = await client.query<{ key: string; taken: boolean }>(TAKE, [names.map(lockNumber)]);
    return names.filter((_name, at) => !rows[at]?.taken);
  };

  const asked = async <Result>(ask: (client: pg.Client) => Promise<Result>): Promise<Result> => {
    try {
      return await ask(await connected());
    } catch (error) {
      throw asDatabaseError(error);
    }
  };

  /** All of the names or none. */
  const takeAll = (names: readonly string[]): Promise<boolean> =>
    asked(async (client) => {
      const others = new Set(await tryAll(client, names));
      if (others.size === 0) {
        held.push(...names);
        return true;
      }
      await client.query(RELEASE, [names.filter((name) => !others.has(name)).map(lockNumber)]);
      return false;
    });

  const releaseAll = async (names: readonly string[]): Promise<void> => {
    for (const name of names) {
      const at = held.indexOf(name);
      if (at >= 0) held.splice(at, 1);
    }
    // Where the connection is lost, so are its locks.
    await connection?.then((client) => client.query(RELEASE, [names.map(lockNumber)])).catch(() => undefined);
  };

  return {
    shared: true,
    take: (name) => takeAll([name]),
    release: (name) => releaseAll([name]),
    hold: async (names, work) => {
      while (!(await takeAll(names))) await delay(RETRY_MS * (0.5 + Math.random()));
      try {
        return await work();
      } finally {
        await releaseAll(names);
      }
    },
    close: async () => {
      closing.abort();
      await connection?.then((client) => client.end()).catch(() => undefined);
    },
  };
};
