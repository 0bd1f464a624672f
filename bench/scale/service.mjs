// A control plane whose trainer does nothing, as a process of its own: what is left is the service. Speaks over IPC.
//   node service.mjs DATA_DIR '{"register": false, "slots": 8}'
import path from "node:path";
import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { loadConfig, startServer } from "../../packages/server/dist/index.js";
import { goodProof, writeAdapter } from "../../packages/server/test/fixtures/workers/support/adapter.mjs";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

const [dataDir, said] = process.argv.slice(2);
const { register, slots } = JSON.parse(said);

/** Steps that a job tells on its way. */
const STEPS = 3;
/** In one process, so many wait at most: a client would be told to come again. */
const WAITING = 500;

const progressAt = (step) => ({
  step,
  steps: STEPS,
  epoch: step,
  loss: 1 / step,
  learning_rate: 0.001,
  grad_norm: 1,
  tokens_per_second: 1000,
  supervised_tokens: 100,
  eta_seconds: 0,
  held_out_loss: null,
});

const NOTHING = { proof: goodProof, rank: 1, alpha: 1, files: [], warnings: [] };

/** What a trainer leaves, five small files, for the service to stage, check and register as any. */
const leaveAdapter = ({ job_id, spec }) =>
  writeAdapter(
    { ...spec, output_dir: path.join(dataDir, "adapters", ".staging", job_id, "adapter") },
    { rank: spec.rank, alpha: spec.alpha, proof: goodProof, training: {} },
  );

/** Tells three steps and is done. */
const runner = {
  start(task, onEvent) {
    const run = async () => {
      for (let step = 1; step <= STEPS; step += 1) onEvent({ type: "progress", job_id: task.job_id, progress: progressAt(step) });
      return { type: "done", result: register ? await leaveAdapter(task) : NOTHING };
    };
    return { cancel: () => undefined, outcome: run() };
  },
  adopt: async () => null,
  leftBehind: async () => [],
  release: async () => undefined,
  call: () => Promise.reject(new Error("this trainer does nothing")),
  close: async () => undefined,
};

/** Jobs of this kind touch no file: calls, records, queue, events and answers are all there is. */
const withoutFiles = (kind) => ({
  ...kind,
  prepare: async ({ job_id }) => ({ type: "train_lora", job_id }),
  finish: async () => undefined,
  discard: async () => undefined,
});

const flags = { data_dir: dataDir, port: 0, base_model: "bench-model", log_level: "silent", slots, max_queued: 100_000 };
const server = await startServer(loadConfig({ flags, env: {}, home: dataDir, repoRoot: dataDir }), {
  runner,
  ...(register ? {} : { adaptKinds: (kinds) => ({ ...kinds, lora: withoutFiles(kinds.lora) }) }),
});

let ended = 0;
let wanted = Number.POSITIVE_INFINITY;
const failures = new Map();
let tell = () => undefined;
server.jobs.subscribe(({ status, error }) => {
  if (!["completed", "failed", "cancelled"].includes(status)) return;
  ended += 1;
  if (status !== "completed") failures.set(error?.message, (failures.get(error?.message) ?? 0) + 1);
  if (ended >= wanted) tell();
});

/** Resolves once so many jobs have ended since the start. */
const reached = (count) =>
  new Promise((resolve) => {
    wanted = count;
    tell = resolve;
    if (ended >= count) resolve();
  });

const memory = () => {
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { used: heapUsed + external, rss };
};

const measures = {
  /** What is there once `count` jobs have ended. */
  ended: async ({ count }) => {
    await reached(count);
    return { failures: [...failures] };
  },
  state: async () => {
    const { user, system } = process.cpuUsage();
    return { ...memory(), ended, cpu: (user + system) / 1e6 };
  },
  /** The same jobs without HTTP. */
  submit: async ({ count, request }) => {
    const done = reached(ended + count);
    for (let left = count; left > 0; left -= 1) {
      while (server.jobs.counts().queued >= WAITING) await new Promise(setImmediate);
      server.jobs.submit({ kind: "lora", request: { ...request, adapter_id: `here-${ended}-${left}` } });
    }
    await done;
    return {};
  },
};

process.on("message", async ({ measure, ...asked }) => {
  if (measure === "close") {
    await server.close(0);
    process.disconnect();
  } else process.send(await measures[measure](asked));
});
process.send({ url: server.url });
