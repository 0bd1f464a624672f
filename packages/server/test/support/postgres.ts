import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { findPostgres, NO_POSTGRES } from "../../../../scripts/lib/test/postgres.mjs";

const execute = promisify(execFile);
const READY = /database system is ready to accept connections/;

/** Postgres refuses to run as root: there it runs as its own user, or as nobody. */
const unprivileged = (): { readonly uid: number; readonly gid: number } | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const lines = readFileSync("/etc/passwd", "utf8").split("\n");
  const line = ["postgres:", "nobody:"].flatMap((name) => lines.filter((one) => one.startsWith(name)))[0] ?? "";
  const [, , uid, gid] = line.split(":").map(Number);
  return { uid: uid as number, gid: gid as number };
};

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });

export interface Postgres {
  readonly port: number;
  /** Where its socket is, and its files. */
  readonly folder: string;
  /** The password of `postgres`. */
  readonly password: string;
  /** Address of a database of this cluster. */
  url(database: string): string;
  /** Makes an empty database and answers its address. */
  create(options?: { readonly encoding?: string }): Promise<string>;
  /** As the superuser. */
  query(sql: string, database?: string): Promise<readonly Record<string, unknown>[]>;
  /** As an administrator stops it, ends connections on the way; or as a crash. */
  stop(signal?: "SIGINT" | "SIGQUIT"): Promise<void>;
  start(...flags: readonly string[]): Promise<void>;
  remove(): Promise<void>;
}

/** A cluster of the caller's own in a folder of its own. */
export const makePostgres = async (): Promise<Postgres> => {
  const programs = findPostgres();
  if (programs === null) throw new Error(NO_POSTGRES);
  const user = unprivileged();
  const folder = mkdtempSync(join(tmpdir(), "imprint-pg-"));
  const password = randomUUID();
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, password, { mode: 0o600 });
  for (const path of user ? [folder, passwordFile] : []) chownSync(path, user?.uid ?? 0, user?.gid ?? 0);
  const data = join(folder, "data");
  const env = { PATH: process.env.PATH, LC_ALL: "C.UTF-8" };
  const init = ["-D", data, "-U", "postgres", "-A", "scram-sha-256", `--pwfile=${passwordFile}`, "-E", "UTF8", "--no-sync"];
  await execute(join(programs, "initdb"), init, { ...user, env, cwd: folder });
  const port = await freePort();
  let running: ChildProcess | null = null;

  const start = async (...flags: readonly string[]): Promise<void> => {
    const settings = ["fsync=off", "max_connections=60", "listen_addresses=127.0.0.1", ...flags].flatMap((one) => ["-c", one]);
    const args = ["-D", data, "-k", folder, "-p", String(port), ...settings];
    const child = spawn(join(programs, "postgres"), args, { ...user, env, cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    running = child;
    let said = "";
    await new Promise<void>((resolve, reject) => {
      child.stderr?.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        if (READY.test(said)) resolve();
      });
      child.once("close", () => reject(new Error(`postgres ended: ${said}`)));
    });
  };

  const stop = async (signal: "SIGINT" | "SIGQUIT" = "SIGINT"): Promise<void> => {
    const child = running;
    running = null;
    if (!child || child.exitCode !== null) return;
    const closed = new Promise((resolve) => child.once("close", resolve));
    child.kill(signal);
    await closed;
  };

  const url = (database: string): string => `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;

  const query = async (sql: string, database = "postgres"): Promise<readonly Record<string, unknown>[]> => {
    const client = new pg.Client({ connectionString: url(database) });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };

  await start();
  return {
    port,
    folder,
    password,
    url,
    create: async ({ encoding = "UTF8" } = {}) => {
      const name = `t${randomUUID().replaceAll("-", "")}`;
      await query(`create database ${name} encoding '${encoding}' locale 'C' template template0`);
      return url(name);
    },
    query,
    stop,
    start,
    remove: async () => {
      await stop("SIGQUIT");
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
};

const MAKE_MS = 60_000;

/** A cluster for all tests of a file. */
export const useCluster = (): (() => Postgres) => {
  let made: Postgres | undefined;
  beforeAll(async () => {
    made = await makePostgres();
  }, MAKE_MS);
  afterAll(async () => made?.remove(), MAKE_MS);
  return () => {
    if (!made) throw new Error("the cluster is not there yet");
    return made;
  };
};
