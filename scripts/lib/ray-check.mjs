import { spawn } from "node:child_process";
import { createServer } from "node:http";
import path from "node:path";
import { startRayHead } from "./ray-head.mjs";
import { ROOT } from "./setup/main.mjs";
import { elapsed } from "./setup/reporter.mjs";

const VITEST = path.join(ROOT, "node_modules", "vitest", "vitest.mjs");
const CPUS = 4; // its jobs ask for a tenth of one

/** Lets the tests kill the head and start it again. */
async function controlOf(head) {
  const server = createServer((request, response) => {
    const work = request.url === "/kill" ? head.kill() : head.restart();
    work.then(
      () => response.end(),
      (error) => response.writeHead(500).end(error.message),
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

/** Starts a head, runs packages/server/test/runners/ray/real-head.check.ts on it, and resolves with the exit code. `args` are vitest's. */
export async function checkRay({ args, signal, out = process.stdout }) {
  const begun = Date.now();
  const head = await startRayHead({ root: ROOT, cpus: CPUS, signal });
  out.write(
    `A Ray head answers at ${head.address} after ${elapsed(Date.now() - begun)}; ${(await head.processes()).length} processes.\n`,
  );
  const control = await controlOf(head);
  try {
    const env = { ...process.env, RAY_CHECK_ADDRESS: head.address, RAY_CHECK_TOKEN: head.token, RAY_CHECK_CONTROL: control.url };
    const vitest = ["run", "--config", path.join(ROOT, "vitest.check.config.ts"), "real-head", ...args];
    const child = spawn(process.execPath, [VITEST, ...vitest], { cwd: ROOT, env, stdio: "inherit" });
    const stop = () => child.kill("SIGTERM");
    signal.addEventListener("abort", stop, { once: true });
    const code = await new Promise((resolve) => child.once("close", resolve));
    signal.removeEventListener("abort", stop);
    out.write(`check-ray took ${elapsed(Date.now() - begun)}.\n`);
    return code ?? 1;
  } finally {
    control.close();
    await head.close();
  }
}
