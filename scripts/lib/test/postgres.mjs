import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { installPackage, onPath } from "./debian.mjs";

/** Where Debian puts the programs of each version. */
const DEBIAN = "/usr/lib/postgresql";

export const NO_POSTGRES =
  "The registry's tests need a Postgres server: install it (Debian, Ubuntu: apt-get install postgresql), or name the folder of its programs in IMPRINT_POSTGRES.";

const namesIn = (folder) => (existsSync(folder) ? readdirSync(folder) : []);

/** The folder of initdb and postgres: what IMPRINT_POSTGRES names, else the newest of Debian's, else on the path; null without one. */
export function findPostgres({ env = process.env, exists = existsSync, list = namesIn } = {}) {
  const newestFirst = list(DEBIAN).sort((left, right) => Number(right) - Number(left));
  const debian = newestFirst.map((version) => path.join(DEBIAN, version, "bin"));
  const places = env.IMPRINT_POSTGRES
    ? [env.IMPRINT_POSTGRES]
    : [...debian, ...onPath("initdb", env).map((file) => path.dirname(file))];
  return places.find((place) => exists(path.join(place, "initdb")) && exists(path.join(place, "postgres"))) ?? null;
}

/** Installs Debian's Postgres where there is none and it may. The tests start clusters of their own; the system's is left alone. */
export async function providePostgres({ env, ...rest }) {
  if (findPostgres({ env }) !== null || env.IMPRINT_POSTGRES) return;
  await installPackage("postgresql", { ...rest, env, reason: "Installing Postgres for the registry's tests." });
}
