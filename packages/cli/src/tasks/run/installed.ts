import { existsSync, realpathSync } from "node:fs";
import path from "node:path";
import { UsageError } from "../../errors.js";
import type { Agent } from "../../launch/agents.js";
import { foldersOf, programIn } from "../on-path.js";

/** An agent's program, and what it must be able to read to run. */
export interface Installed {
  readonly program: string;
  readonly readable: readonly string[];
  /** Folders of programs that it looks for: its own, and Node's. */
  readonly path: readonly string[];
}

/** Every sandbox has the system. */
const SYSTEM = /^\/(?:usr|bin|sbin|lib|lib64|etc)(?:\/|$)/;

/** The folders above a file, the nearest first. */
const above = (file: string): readonly string[] => {
  const folder = path.dirname(file);
  return folder === path.dirname(folder) ? [] : [folder, ...above(folder)];
};

const prefixOf = (program: string): string => path.dirname(path.dirname(realpathSync(program)));

/** What belongs to a program: its virtual environment with the Python below, or the packages beside it; else the file alone. */
function partsOf(program: string): readonly string[] {
  const folders = above(program);
  const environment = folders.find((folder) => existsSync(path.join(folder, "pyvenv.cfg")));
  if (environment !== undefined) return [environment, prefixOf(path.join(environment, "bin", "python"))];
  const modules = folders.findLast((folder) => path.basename(folder) === "node_modules");
  return [modules ?? program];
}

/** Where an agent is installed on this machine. Throws a UsageError for one that is not. */
export function installed({ program, install }: Pick<Agent, "program" | "install">, env: NodeJS.ProcessEnv): Installed {
  const found = programIn(foldersOf(env), program);
  if (found === undefined) throw new UsageError(`${program} is not installed, or not on the PATH: ${install}`);
  const real = realpathSync(found);
  const readable = [...partsOf(found), ...partsOf(real), prefixOf(process.execPath)].filter((one) => !SYSTEM.test(one));
  return { program: found, readable: [...new Set(readable)], path: [path.dirname(found), path.dirname(process.execPath)] };
}
