import { elapsed } from "../elapsed.mjs";
import { CommandFailure, Interrupted } from "../process/failures.mjs";
import { SetupFailure } from "../setup/failure.mjs";
import { ROOT } from "../setup/main.mjs";
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
  let failed = 0;
  const wanted = names.length > 0 ? names : Object.keys(CLIENTS);
  for (const name of wanted) {
    const client = CLIENTS[name];
    const started = Date.now();
    let installed = started;
    const check = async () => {
      const programs = await installAgent({ name, package: client.package, root, env, signal });
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
