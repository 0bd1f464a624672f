// From exec to listening: the bundled service, what the compiler left, and a Node that does nothing, in turns.
//
//   node packages/server/bench/start.mjs [rounds]
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const rounds = Number(process.argv[2] ?? 9);
const program = (file) => [fileURLToPath(new URL(`../${file}`, import.meta.url))];
const sides = {
  bundle: program("bundle/main.js"),
  dist: program("dist/main.js"),
  node: ["--eval", "console.log('up'); setInterval(() => {}, 1000)"],
};

/** Milliseconds from the spawn to the first line on standard output. */
async function timeToFirstLine(args) {
  const folder = mkdtempSync(path.join(tmpdir(), "imprint-start-"));
  const env = { PATH: process.env.PATH, HOME: folder, IMPRINT_DATA_DIR: folder, IMPRINT_PORT: "0", IMPRINT_LOG_LEVEL: "silent" };
  const started = performance.now();
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const took = performance.now() - started;
  child.kill("SIGTERM");
  await ended;
  rmSync(folder, { recursive: true });
  return Math.round(took);
}

const times = Object.fromEntries(Object.keys(sides).map((name) => [name, []]));
for (let round = 0; round < rounds; round += 1)
  for (const [name, args] of Object.entries(sides)) times[name].push(await timeToFirstLine(args));
for (const [name, all] of Object.entries(times)) {
  const sorted = all.toSorted((a, b) => a - b);
  console.log(`${name.padEnd(8)} median ${sorted[rounds >> 1]} ms   least ${sorted[0]} ms   all ${all.join(" ")}`);
}
