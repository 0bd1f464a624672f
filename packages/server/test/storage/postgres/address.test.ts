import { execFileSync } from "node:child_process";
import { chownSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkDatabaseUrl } from "../../../src/config/database.js";
import { ConfigError } from "../../../src/config/errors.js";
import { openDatabase, openStorage } from "../../../src/storage/open.js";
import { dataPaths, ensureDataPaths } from "../../../src/storage/paths.js";
import { describeAddress } from "../../../src/storage/postgres/address.js";
import { openPostgres } from "../../../src/storage/postgres/open.js";
import { useCluster } from "../../support/postgres.js";
import { makeFolder } from "../../support/service.js";

const cluster = useCluster();

const opens = async (url: string): Promise<boolean> => {
  checkDatabaseUrl({ database_url: url });
  const { database } = await openPostgres({ url });
  await database.selectFrom("adapters").selectAll().execute();
  await database.destroy();
  return true;
};

/** What is said of an address that cannot be used. */
const refusalOf = (url: string): Promise<string> =>
  opens(url).then(
    () => "opened",
    (error: Error) => error.message,
  );

test("a password of any characters is read percent-encoded, and is refused by name where it is not", async () => {
  const url = new URL(await cluster().create());
  const password = `p@ss/w#r:d?&%=+ ü"\\'`;
  await cluster().query(`create role special login superuser password '${password.replaceAll("'", "''")}'`);
  const place = `127.0.0.1:${cluster().port}${url.pathname}`;
  expect(await opens(`postgres://special:${encodeURIComponent(password)}@${place}`)).toBe(true);
  for (const raw of ["p@ss/w#rd", "50%off"]) {
    const refused = () => checkDatabaseUrl({ database_url: `postgres://special:${raw}@${place}` });
    expect(refused).toThrow(ConfigError);
    expect(refused).toThrow(/percent-encoded/);
    expect(refused).not.toThrow(raw);
  }
});

test("each way not to reach a database is a sentence without the password", async () => {
  const { port, password } = cluster();
  const said = async (address: string) => {
    const sentence = await refusalOf(address);
    expect(sentence).not.toContain("hunter2");
    expect(sentence).not.toContain(password);
    return sentence;
  };
  expect(await said(`postgres://postgres:hunter2@127.0.0.1:${port}/postgres`)).toMatch(/password is refused/);
  expect(await said(`postgres://postgres:${password}@127.0.0.1:${port}/none`)).toMatch(/no such database: createdb/);
  expect(await said("postgres://postgres:hunter2@127.0.0.1:1/x")).toMatch(/postgres@127.0.0.1:1\/x .* no server listens/);
  expect(await said("postgres://u:hunter2@no-such-host.invalid/x")).toMatch(/no such host|EAI_AGAIN/);
  expect(await said(`postgres://postgres:${password}@127.0.0.1:${port}/postgres?sslmode=require`)).toMatch(/SSL/);
  const latin = await cluster().create({ encoding: "LATIN1" });
  expect(await said(latin)).toMatch(/encoded in LATIN1: make one with createdb/);
  await cluster().query("create role poor login password 'hunter2'");
  const poor = (await cluster().create()).replace(/\/\/postgres:[^@]*@/, "//poor:hunter2@");
  expect(await said(poor)).toMatch(/may create no tables/);
  for (const [address, why] of [
    ["postgres:///x", /names no host/],
    ["postgres://h/", /names no database/],
    ["postgres://h", /names no database/],
  ] as const)
    expect(await said(address)).toMatch(why);
});

test("a Unix socket is named as the host", async () => {
  const { port, folder, password } = cluster();
  const { pathname } = new URL(await cluster().create());
  expect(
    await opens(`postgres://postgres:${password}@/${pathname.slice(1)}?host=${encodeURIComponent(folder)}&port=${port}`),
  ).toBe(true);
  expect(await refusalOf(`postgres:///x?host=${encodeURIComponent(join(folder, "none"))}`)).toMatch(
    /no server listens on that socket/,
  );
  expect(describeAddress(`postgres://u:hunter2@/x?host=${encodeURIComponent("/run/pg")}`)).toBe("u@/run/pg/x");
});

test("sslmode says how much of a certificate is checked", async () => {
  const { folder, password } = cluster();
  const { pathname } = new URL(await cluster().create());
  const [key, certificate] = [join(folder, "server.key"), join(folder, "server.crt")];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  execFileSync(
    "openssl",
    ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", certificate, ...names],
    { stdio: "ignore" },
  );
  const { uid, gid } = statSync(join(folder, "data"));
  if (process.getuid?.() === 0) for (const file of [key, certificate]) chownSync(file, uid, gid);
  await cluster().stop();
  await cluster().start("ssl=on", `ssl_key_file=${key}`, `ssl_cert_file=${certificate}`);
  const address = (options: string) => `postgres://postgres:${password}@127.0.0.1:${cluster().port}${pathname}?${options}`;
  expect(await opens(address("sslmode=disable"))).toBe(true);
  expect(await opens(address("sslmode=no-verify"))).toBe(true);
  expect(await opens(address(`sslmode=verify-full&sslrootcert=${encodeURIComponent(certificate)}`))).toBe(true);
  expect(await refusalOf(address("sslmode=verify-full"))).toMatch(/SELF_SIGNED/);
});

test("services that start at once migrate one after the other", async () => {
  const url = await cluster().create();
  const opened = await Promise.all(Array.from({ length: 5 }, () => openPostgres({ url })));
  expect(new Set(opened.map(({ id }) => id)).size).toBe(1);
  for (const { database } of opened) await database.destroy();
});

test("a data directory belongs to one registry", async () => {
  const open = (root: string, url: string | null) => openStorage({ root, url, serviceId: "me", onLost: () => undefined });
  const shared = makeFolder();
  const url = await cluster().create();
  await (await open(shared, url)).close();
  expect(readFileSync(join(shared, "registry.id"), "utf8")).toMatch(/^[0-9a-f-]{36}\n$/);
  await expect(open(shared, await cluster().create())).rejects.toThrow(/belongs to another database/);
  await expect(open(shared, null)).rejects.toThrow(/in a Postgres database: name it in database_url/);
  await (await open(shared, url)).close();

  const own = makeFolder();
  const paths = dataPaths(own);
  ensureDataPaths(paths);
  await openDatabase({ path: paths.database }).destroy();
  await expect(open(own, url)).rejects.toThrow(/registry of its own, registry.db/);
  const sole = await open(own, null);
  await expect(open(own, url)).rejects.toThrow(/another imprint process/);
  await sole.close();
});
