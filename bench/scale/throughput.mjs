import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request as call } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const SERVICE = fileURLToPath(new URL("service.mjs", import.meta.url));
const SESSIONS = fileURLToPath(new URL("../../examples/sessions/claude-code/", import.meta.url));
/** Calls at once of the client. */
const CALLS = 32;
const SLOTS = 8;
/** Parts of a run after which memory is looked at. */
const PARTS = 10;

/** A control plane in a folder of its own. `ask` measures something in it. */
async function startPlane({ register }) {
  const dataDir = mkdtempSync(path.join(tmpdir(), "imprint-scale-"));
  const model = path.join(dataDir, "models", "bench-model");
  mkdirSync(model, { recursive: true });
  for (const file of ["config.json", "model.safetensors"]) writeFileSync(path.join(model, file), "{}");
  const child = fork(SERVICE, [dataDir, JSON.stringify({ register, slots: SLOTS })], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const [{ url }] = await once(child, "message");
  const ask = async (measure, asked = {}) => {
    child.send({ measure, ...asked });
    const [answer] = await once(child, "message");
    return answer;
  };
  const stop = async () => {
    child.send({ measure: "close" });
    await once(child, "exit");
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { url, ask, stop };
}

const agent = new Agent({ keepAlive: true, maxSockets: CALLS });

/** The status of a call. The body of an answer is read and left. */
const post = (url, body) =>
  new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    call(url, { method: "POST", agent, headers }, (answer) => {
      answer.resume();
      answer.once("end", () => resolve(answer.statusCode));
    })
      .once("error", reject)
      .end(body);
  });

/** Submits so many jobs, so many calls at once; one that is refused as the queue is full is made again. */
async function submitOverHttp({ url, count, sessionId, named }) {
  let left = count;
  const caller = async () => {
    while (left > 0) {
      left -= 1;
      const body = JSON.stringify({ session_id: sessionId, adapter_id: named(left) });
      for (let status = 429; status === 429; ) {
        status = await post(`${url}/train/lora`, body);
        if (status !== 200 && status !== 429) throw new Error(`a job was refused with ${status}`);
      }
    }
  };
  await Promise.all(Array.from({ length: CALLS }, caller));
}

const megabytes = (bytes) => Number((bytes / 2 ** 20).toFixed(1));

/** Jobs a second, from the first call until the last job is completed; in parts, with the memory after each. */
async function measureJobs({ jobs, register, submit }) {
  const plane = await startPlane({ register });
  try {
    const sessionId = register ? await importSession(plane.url) : "none";
    const before = await plane.ask("state");
    const part = Math.ceil(jobs / PARTS);
    const memory = [megabytes(before.used)];
    const rss = [];
    let seconds = 0;
    for (let done = 0; done < jobs; done += part) {
      const count = Math.min(part, jobs - done);
      const start = performance.now();
      await submit({ plane, count, sessionId, named: (left) => `scale-${done}-${left}` });
      const { failures } = await plane.ask("ended", { count: done + count });
      seconds += (performance.now() - start) / 1000;
      if (failures.length > 0) throw new Error(`jobs failed: ${JSON.stringify(failures)}`);
      const state = await plane.ask("state");
      memory.push(megabytes(state.used));
      rss.push(megabytes(state.rss));
    }
    const { cpu } = await plane.ask("state");
    const processor = cpu - before.cpu;
    return {
      jobs,
      seconds: Number(seconds.toFixed(1)),
      jobs_per_second: Math.round(jobs / seconds),
      /** Of the service alone: what a machine with nothing else to do would reach at most. */
      jobs_per_processor_second: Math.round(jobs / processor),
      heap_mib: memory,
      rss_mib: rss,
    };
  } finally {
    await plane.stop();
  }
}

/** Imports the first of the examples; answers its id. */
async function importSession(url) {
  const [name] = readdirSync(SESSIONS).sort();
  const body = readFileSync(path.join(SESSIONS, name));
  const headers = { "content-type": "application/x-ndjson" };
  const answer = await fetch(`${url}/sessions`, { method: "POST", headers, body });
  return (await answer.json()).session_id;
}

const overHttp = ({ plane: { url }, ...rest }) => submitOverHttp({ url, ...rest });
const REQUEST = { session_ids: ["none"], session_id: "none" };

/** What one control plane can do, whose trainer does nothing. */
export async function measureThroughput({ jobs, registered, print }) {
  const works = {
    "over HTTP": { jobs, register: false, submit: overHttp },
    "in its own process": {
      jobs,
      register: false,
      submit: ({ plane, count }) => plane.ask("submit", { count, request: REQUEST }),
    },
    "over HTTP, adapters registered": { jobs: registered, register: true, submit: overHttp },
  };
  const figures = {};
  for (const [name, work] of Object.entries(works)) {
    const found = await measureJobs(work);
    figures[name] = found;
    print(
      `${name}: ${found.jobs} jobs in ${found.seconds} s, ${found.jobs_per_second} a second, ` +
        `${found.jobs_per_processor_second} a second of the service's processor time; heap ${found.heap_mib.join(", ")} MiB`,
    );
  }
  return figures;
}
