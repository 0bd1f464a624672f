import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { createClient } from "../../packages/client/dist/index.js";
import { startDemoService } from "../../scripts/lib/demo/service.mjs";
import { ROOT } from "../../scripts/lib/setup/main.mjs";
import { userPath } from "../../scripts/lib/trainer.mjs";
import { UsageError } from "../harness/main.mjs";
import { since } from "../harness/pairs.mjs";
import { spread } from "../harness/statistics.mjs";
import { asked } from "./asked.mjs";

const TEXTS = path.join(ROOT, "docs/adr");
const SESSION = path.join(ROOT, "examples/sessions/harborline-gates.json");
const IMPRINT = path.join(ROOT, "packages/cli/bin/imprint.mjs");
const FASTAPI = path.join(ROOT, "bench/python/imprint_bench/fastapi_service.py");
const [QUIET_MS, SESSIONS, CONNECTIONS] = [2000, 100, [1, 16, 64, 256]];
/** What each figure should be at most. */
export const GOALS = {
  "service start, s": 0.3,
  "its memory idle, MB": 90,
  ...Object.fromEntries(CONNECTIONS.map((count) => [`99 of 100 requests, ${count} connections, ms`, 20])),
  "99 of 100 requests while it trains, ms": 20,
  "processor of a request, of FastAPI's": 1 / 6,
  "request to first step, cold, s": 8,
  "request to first step, warm, s": 0.5,
  "proof, % of a training": 10,
  "imprint of 512 tokens, s": 2,
  "imprint of 16384 tokens, s": 15,
};
const ANSWER = { role: "assistant", content: "Done." };
const WORSE = 1.15;

/** What a program gives that tells its address in the first line, and is asked until `work` is done. */
async function beside(command, args, work) {
  const began = performance.now();
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
    return await work({ pid: child.pid, url: /http[^"\s]+/.exec(value)[0], seconds: since(began) });
  } finally {
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.kill();
    await ended;
  }
}

/** The service as its command runs it. */
const served = (dataDir, work) =>
  beside(process.execPath, [IMPRINT, "serve", "--json", "--port", "0", "--data-dir", dataDir], work);

/** Adds to `found` how lists of sessions are answered: by the service, beside a training, and by a FastAPI service of the same rows. */
async function requests({ dataDir, python, found }) {
  const list = "/sessions?limit=20";
  const ours = await served(dataDir, async ({ pid, url }) => {
    const client = createClient({ baseUrl: url });
    for (let at = 0; at < SESSIONS; at += 1)
      await client.sessions.create(JSON.stringify({ messages: [{ role: "user", content: `${at}` }, ANSWER] }));
    let processor = 0;
    for (const connections of CONNECTIONS) {
      const { ms, processorMs } = await asked({ url: url + list, pid, connections });
      found[`99 of 100 requests, ${connections} connections, ms`].push(ms);
      processor += processorMs / CONNECTIONS.length;
    }
    const { session_id } = await client.sessions.create(readFileSync(SESSION, "utf8"), { outcome: "success" });
    const { job_id } = await client.train.lora({ session_id });
    for await (const { job } of client.jobs.events(job_id)) if (job?.phase === "training") break;
    found["99 of 100 requests while it trains, ms"].push((await asked({ url: url + list, pid, connections: 16 })).ms);
    return processor;
  });
  if (python === undefined) return;
  const theirs = await beside(python, [FASTAPI, path.join(dataDir, "registry.db")], ({ pid, url }) =>
    asked({ url: url + list, pid, connections: 16 }),
  );
  found["processor of a request, of FastAPI's"].push(ours / theirs.processorMs);
}

/** Of a job: seconds until each phase began, and until its end. */
async function followed(client, start) {
  const [began, at] = [performance.now(), {}];
  const { job_id } = await start();
  for await (const { type, job } of client.jobs.events(job_id)) if (type === "status") at[job.phase] ??= since(began);
  const { status, error } = await client.jobs.waitFor(job_id);
  if (status !== "completed") throw new Error(`A job failed: ${error?.message ?? status}`);
  return { ...at, total: since(began) };
}

export const benchmark = {
  name: "jobs",
  description: "seconds: the service's start, from a request to the first step, of a proof, and to a proved imprint",
  options: { base: { type: "string" }, check: { type: "string" }, fastapi: { type: "string" } },
  async run({ options, rounds, print }) {
    if (options.check !== undefined && !existsSync(userPath(options.check)))
      throw new UsageError(`--check names a kept result; there is no file ${options.check}.`);
    const before = options.check === undefined ? null : JSON.parse(readFileSync(userPath(options.check), "utf8")).figures;
    const names = readdirSync(TEXTS).sort();
    const texts = names.map((name) => readFileSync(path.join(TEXTS, name), "utf8"));
    const dataDir = mkdtempSync(path.join(os.tmpdir(), "imprint-bench-"));
    const found = Object.fromEntries(Object.keys(GOALS).map((name) => [name, []]));
    try {
      for (let round = 0; round < rounds; round += 1) {
        await served(dataDir, async ({ pid, seconds }) => {
          found["service start, s"].push(seconds);
          await pause(QUIET_MS);
          found["its memory idle, MB"].push(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024);
        });
      }
      if (options.base === undefined) await requests({ dataDir, python: options.fastapi, found });
      const flags = options.base === undefined ? {} : { base_model: userPath(options.base) };
      const { client, baseModel: base_model, close } = await startDemoService({ dataDir, flags });
      try {
        const asked = { base_model, seed: 1, keep_harmful: true };
        const stored = async (text) => (await client.sessions.create(text, { outcome: "success" })).session_id;
        const session_id = await stored(readFileSync(SESSION));
        for (const start of ["cold", "warm"]) {
          const { training, proving, total } = await followed(client, () => client.train.lora({ ...asked, session_id }));
          found[`request to first step, ${start}, s`].push(training);
          found["proof, % of a training"].push((100 * (total - proving)) / total);
        }
        for (const tokens of options.base === undefined ? [512, 16_384] : []) // the default model has statistics
          for (let round = 0; round <= rounds; round += 1) {
            const trajectory_ids = [await stored(chatOf({ texts, tokens, turn: String(round) }))];
            const { total } = await followed(client, () => client.train.hypernetwork({ ...asked, trajectory_ids }));
            if (round > 0) found[`imprint of ${tokens} tokens, s`].push(total); // the first warms up
          }
      } finally {
        await close();
      }
    } finally {
      rmSync(dataDir, { recursive: true });
    }
    const figures = {};
    for (const [name, values] of Object.entries(found).filter(([, some]) => some.length > 0)) {
      const { median, min, max } = spread(values);
      figures[name] = median;
      const worse = before !== null && median > WORSE * before[name] ? `, WORSE than ${before[name].toFixed(2)}` : "";
      const [middle, least, most] = [median, min, max].map((value) => value.toFixed(2));
      print(`${name}: ${middle} (${least} to ${most}), goal ${GOALS[name]}${median > GOALS[name] ? ": missed" : ""}${worse}`);
    }
    return figures;
  },
};

const CHARACTERS = 4; // of a token, about

/** A chat as a client records it, of about so many tokens: turns of an agent that are the texts, one after another. */
export function chatOf({ texts, tokens, turn }) {
  const messages = [];
  for (let left = tokens * CHARACTERS, at = 0; left > 0; at += 1) {
    const content = `${at + 1}. ${texts[at % texts.length]}`.slice(0, left); // numbered: what is said twice is learned once
    messages.push({ role: "user", content: `Go on (${turn}).` }, { role: "assistant", content });
    left -= content.length;
  }
  return JSON.stringify({ messages });
}
