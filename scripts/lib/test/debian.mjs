import { existsSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { CommandFailure } from "../process/failures.mjs";
import { run } from "../process/run.mjs";

const INSTALL_MS = 10 * 60_000;

export const onPath = (name, env) => (env.PATH ?? "").split(path.delimiter).map((folder) => path.join(folder, name));

const isDebianRoot = (env) => process.getuid?.() === 0 && onPath("apt-get", env).some((place) => existsSync(place));

/** Installs a package of Debian where it may. Otherwise the tests that need it say themselves what is missing. */
export async function installPackage(name, { reason, env, signal, print }) {
  if (!isDebianRoot(env)) return;
  print(reason);
  const options = { env: { ...env, DEBIAN_FRONTEND: "noninteractive" }, signal, timeoutMs: INSTALL_MS };
  const apt = (args) => run("apt-get", args, { ...options, name: `apt-get ${args[0]}` });
  try {
    // The package lists may be old or not there at all.
    await apt(["update"]);
    await apt(["install", "-y", "--no-install-recommends", name]);
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    print(error.message);
  }
}
