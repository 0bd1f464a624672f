import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { rayPython } from "./setup/ray.mjs";

const START_MS = 300_000; // ten processes of a hundred megabytes: half a minute on two free cores
const POLL_MS = 500;
const TRIES = 3; // on a machine with much else to do, Ray's own limits strike
const STARTED = "Ray runtime started"; // its Jobs API answers earlier, while what runs jobs may still fail to start
/** Ray's own limits, for machines that do other work. */
const PATIENCE = { RAY_DASHBOARD_STARTUP_TIMEOUT_S: "290", RAY_DASHBOARD_SUBPROCESS_MODULE_WAIT_READY_TIMEOUT: "290" };
const STORE_BYTES = 80_000_000; // the least that Ray takes; nothing of ours lies there

/** Ports that nothing listens on. A raylet gives agents that choose theirs 15 seconds for it, and aborts. */
const freePorts = async (count) => {
  const servers = Array.from({ length: count }, () => createServer());
  await Promise.all(
    servers.map((server) => new Promise((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve))),
  );
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
};

/** The processes that Ray starts are sessions of their own: found by the folder that all their command lines name. */
const processesOf = async (folder) => {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        if (readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)) return true; // Ray overwrites the others with titles
        return ["cmdline", "environ"].some((name) => readFileSync(`/proc/${pid}/${name}`, "utf8").includes(folder));
      } catch {
        return false; // it ended meanwhile
      }
    })
    .map(Number)
    .filter((pid) => pid !== process.pid);
};

/**
 * A Ray head of this machine, with a token, on loopback alone. `restart` kills it and starts an empty one at the same address.
 * Needs /proc.
 */
export async function startRayHead({ root, cpus = 2, signal, env = process.env, onLine = () => {} }) {
  const python = rayPython(root);
  if (python === null) throw new Error("Ray is not installed: npm run setup -- --ray");
  const folder = mkdtempSync(path.join(tmpdir(), "ray-")); // short: sockets lie below it
  const token = randomBytes(24).toString("hex");
  const [port, client, agent, agentGrpc, environments, metrics] = await freePorts(6);
  const address = `http://127.0.0.1:${port}`;
  const headers = { authorization: `Bearer ${token}` };
  let child;

  const answers = async () => {
    try {
      const response = await fetch(`${address}/api/jobs/`, { headers, signal: AbortSignal.timeout(2000) });
      return response.ok;
    } catch {
      return false;
    }
  };

  const kill = async () => {
    for (let pids = await processesOf(folder); pids.length > 0; pids = await processesOf(folder)) {
      for (const pid of pids) {
        try {
          process.kill(pid, "SIGKILL");
        } catch {} // it ended meanwhile
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  const startOnce = async () => {
    const session = mkdtempSync(path.join(folder, "s"));
    const ports = [
      "--port=0",
      `--dashboard-port=${port}`,
      `--ray-client-server-port=${client}`,
      `--metrics-export-port=${metrics}`,
    ];
    const agents = [`--dashboard-agent-listen-port=${agent}`, `--dashboard-agent-grpc-port=${agentGrpc}`];
    const others = [`--runtime-env-agent-port=${environments}`, "--min-worker-port=0", "--max-worker-port=0"];
    const local = [
      "--node-ip-address=127.0.0.1",
      "--dashboard-host=127.0.0.1",
      "--include-dashboard=true",
      "--include-log-monitor=false",
    ];
    const size = [`--num-cpus=${cpus}`, `--object-store-memory=${STORE_BYTES}`, `--temp-dir=${session}`, "--disable-usage-stats"];
    const proxies = Object.keys(env).filter((name) => /_proxy$/i.test(name));
    const own = Object.fromEntries(Object.entries(env).filter(([name]) => !proxies.includes(name) && name !== "PYTHONPATH"));
    const variables = {
      ...own,
      RAY_AUTH_MODE: "token",
      RAY_AUTH_TOKEN: token,
      RAY_USAGE_STATS_ENABLED: "0",
      IMPRINT_RAY_HEAD: folder,
      ...PATIENCE,
    };
    const args = ["-m", "ray.scripts.scripts", "start", "--head", "--block", ...ports, ...agents, ...others, ...local, ...size];
    child = spawn(python, args, { env: variables, cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => {
        said = (said + text).slice(-4000);
        onLine(text);
      });
    const begun = performance.now();
    while (!(said.includes(STARTED) && (await answers()))) {
      signal?.throwIfAborted();
      if (child.exitCode !== null || performance.now() - begun > START_MS) {
        throw new Error(`The Ray head did not start.\n${said}`);
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  };

  const start = async () => {
    for (let left = TRIES - 1; ; left -= 1) {
      try {
        return await startOnce();
      } catch (error) {
        if (left === 0 || signal?.aborted) throw error;
        await kill();
      }
    }
  };

  const close = async () => {
    await kill();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };

  await start().catch(async (error) => {
    await close();
    throw error;
  });
  return {
    address,
    token,
    kill,
    processes: () => processesOf(folder),
    restart: async () => {
      await kill();
      await start();
    },
    close,
  };
}
