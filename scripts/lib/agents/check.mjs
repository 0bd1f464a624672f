import path from "node:path";
import { elapsed } from "../elapsed.mjs";
import { CommandFailure, Interrupted } from "../process/failures.mjs";
import { cacheFolder } from "../setup/cache-folder.mjs";
import { SetupFailure } from "../setup/failure.mjs";
import { findPython } from "../setup/find-python.mjs";
import { withLock } from "../setup/lock.mjs";
import { ROOT } from "../setup/main.mjs";
import { pythonEnv } from "../setup/python-env.mjs";
import { prepareTools } from "../setup/tools.mjs";
import { attempt } from "./attempt.mjs";
import { CLIENTS } from "./clients.mjs";
import { installAgent } from "./install.mjs";

const KEPT_LINES = 40;

/** Lets each named agent, or all, do its task; says a line for each, and resolves with the exit code. */
export async function checkAgents({ names, env = process.env, root = ROOT, out = process.stdout }) {
  const unknown = names.find((name) => !Object.hasOwn(CLIENTS, name));
  if (unknown !== undefined) {
    out.write(`There is no agent ${unknown}. Usage: npm run check-agents [-- NAME...], of ${Object.keys(CLIENTS).join(", ")}\n`);
    return 2;
  }
  const interrupt = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(name, () => interrupt.abort());
  const { signal } = interrupt;
  const cache = cacheFolder({ env });
  const places = { locks: path.join(root, "scripts", "agents"), cache };
  const python = () => pythonTools({ root, cache, env: pythonEnv(env), signal });
  let failed = 0;
  const wanted = names.length > 0 ? names : Object.keys(CLIENTS);
  for (const name of wanted) {
    const client = CLIENTS[name];
    const started = Date.now();
    let installed = started;
    const check = async () => {
      const programs = await withLock({ file: path.join(cache, ".agents-lock"), signal }, () =>
        installAgent({ name, package: client.package, ...places, env, signal, python }),
      );
      installed = Date.now();
      return attempt({ name, client, programs, root, env, signal });
    };
    const { wrong, said } = await check().catch(notInstalled);
    if (signal.aborted) {
      out.write("Stopped.\n");
      return 130;
    }
    const times = `${elapsed(Date.now() - installed)}, after ${elapsed(installed - started)} to install`;
    out.write(`${wrong.length === 0 ? "passed" : "FAILED"} ${name} (${times})\n`);
    if (wrong.length === 0) continue;
    failed += 1;
    for (const sentence of wrong) out.write(`  ${sentence}\n`);
    for (const line of said.slice(-KEPT_LINES)) out.write(`  | ${line}\n`);
  }
  out.write(`${wanted.length - failed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

function notInstalled(error) {
  if (error instanceof Interrupted) return { wrong: [error.message], said: [] };
  if (!(error instanceof CommandFailure || error instanceof SetupFailure)) throw error;
  return { wrong: [`it could not be installed: ${error.message}`], said: error.output.trimEnd().split("\n") };
}

async function pythonTools({ root, cache, env, signal }) {
  const found = await findPython({ env, signal });
  const { uv, uvEnv } = await prepareTools({ root, cache, python: found, env, signal, task: { update: () => undefined } });
  return { uv, uvEnv, executable: found.executable };
}
