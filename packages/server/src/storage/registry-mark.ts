import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CannotStartError } from "../config/errors.js";
import { writeAtomically } from "./durable.js";
import type { DataPaths } from "./paths.js";

const FILE = "registry.id";

const markOf = (root: string): string | null => {
  const file = join(root, FILE);
  return existsSync(file) ? readFileSync(file, "utf8").trim() : null;
};

/**
 * A data directory belongs to one registry: with another one, all of its adapters would look as if nobody had registered them.
 * @throws CannotStartError where the directory's registry is in a database and none is named
 */
export const checkNoMark = ({ root }: DataPaths): void => {
  if (markOf(root) === null) return;
  throw new CannotStartError(
    `The registry of ${root} is in a Postgres database: name it in database_url, or use another --data-dir`,
  );
};

/**
 * Makes a data directory a database's.
 * @throws CannotStartError where it has a registry of its own already, or another database's
 */
export const markRegistry = async ({ root, database }: DataPaths, id: string): Promise<void> => {
  if (existsSync(database))
    throw new CannotStartError(
      `The data directory ${root} has a registry of its own, registry.db: leave database_url out, or use another --data-dir`,
    );
  const mark = markOf(root);
  if (mark === id) return;
  if (mark !== null)
    throw new CannotStartError(
      `The data directory ${root} belongs to another database: correct database_url, or use another --data-dir`,
    );
  await writeAtomically(join(root, FILE), `${id}\n`);
};
