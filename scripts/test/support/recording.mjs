// Runs the real trainer once through everything that it can be asked, and answers what it said.
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const agent = (text) => ({ source: "agent", text });
const user = (text) => ({ source: "user", text });
const session = {
  schema_version: 1,
  session_id: "recorded",
  source: { format: "native", format_version: null, agent: null, model: null, sha256: "0".repeat(64) },
  task_type: "code-gen",
  outcome: "success",
  outcome_signal: "success",
  started_at: null,
  tools: [],
  steps: [
    user("Write a function that adds two numbers."),
    agent("def add(a, b):\n    return a + b\n"),
    user("Now one that multiplies a list of numbers, and says what it expects."),
    agent(
      'def product(numbers):\n    """The product of numbers; 1 of none."""\n    result = 1\n    for n in numbers:\n        result *= n\n    return result\n',
    ),
    user("Which port does the gateway use?"),
    agent("The gateway uses port 7413."),
  ],
  bad_lines: 0,
  dropped: [],
  redactions: [],
};

/** Others, one with a call: what an evaluation tests on. */
const tested = [
  {
    ...session,
    session_id: "tested",
    tools: [
      {
        name: "read_file",
        description: "Reads a file.",
        parameters: { type: "object", properties: { path: { type: "string" } } },
      },
    ],
    steps: ["shop", "bank"].flatMap((name) => [
      user(`Which port does the gateway of the ${name} use?`),
      {
        ...agent("I look into its settings."),
        tool_calls: [{ id: name, name: "read_file", arguments: `{"path": "${name}/gateway.json"}` }],
        observations: [{ call_id: name, content: `{"port": 7419, "host": "${name}"}` }],
      },
      agent(`The gateway of the ${name} uses port 7419.`),
    ]),
  },
  {
    ...session,
    session_id: "tested-too",
    steps: [user("Write a function that halves a number."), agent("def half(number):\n    return number / 2\n")],
  },
];

const LAST = ["done", "failed", "cancelled", "answer", "call_failed"];
const OF_THE_RUN = ["tokens_per_second", "eta_seconds", "peak_memory_mb", "available_mb"];

/** What differs with the machine, as it is where the CPU multiplies bf16. */
const ON_BF16 = { weights_mb: 326, activations_mb: 175, total_mb: 1546 };

/** An event without what changes from run to run and from machine to machine: ids, times, memory, hashes. */
const neutral = (event) =>
  JSON.parse(JSON.stringify(event), (key, value) => {
    if (key === "job_id" || key === "call_id" || key === "sha256") return "";
    if (key === "memory" && value) return { ...value, ...ON_BF16 };
    return OF_THE_RUN.includes(key) ? 1 : value;
  });

/** A trainer's process: `ask` answers the events up to the one that ends what was asked. */
function startTrainer({ python, root }) {
  const child = spawn(python, ["-m", "imprint_trainer", "serve"], {
    env: { ...process.env, PYTHONPATH: join(root, "trainer/src"), HF_HUB_OFFLINE: "1" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const hear = async (isLast) => {
    const events = [];
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error("the trainer ended");
      const event = JSON.parse(value);
      if (event.type === "heartbeat" || event.measuring?.eta_seconds !== undefined) continue; // told by the clock
      events.push(event);
      if (isLast(event.type)) return events;
    }
  };
  return {
    ready: () => hear((type) => type === "ready"),
    ask: async (request) => {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      const events = await hear((type) => LAST.includes(type));
      const { type, error } = events.at(-1);
      if (error) throw new Error(`${request.type} ${type}: ${error.message}`);
      return events.map(neutral);
    },
    end: () => child.stdin.end(),
  };
}

const requestsFor = async ({ setup, hypernetworks, work }) => {
  const { default_model: name, models } = setup;
  const base_model = models[name];
  const session_path = join(work, "session.json");
  await writeFile(session_path, JSON.stringify(session));
  const sessions = tested.map(({ session_id }) => ({ session_id, path: join(work, `${session_id}.json`) }));
  for (const [at, { path }] of sessions.entries()) await writeFile(path, JSON.stringify(tested[at]));
  const [output_dir, dir, generated, exported, evaluated, cache_dir, swept, trials] = await Promise.all(
    ["lora", "checkpoints", "hypernetwork", "export", "evaluation", "measurements", "sweep", "trials"].map(async (folder) => {
      await mkdir(join(work, folder));
      return join(work, folder);
    }),
  );
  const windows = {
    session_paths: [session_path],
    session_ids: [session.session_id],
    skip_invalid: false,
    unreadable: [],
    base_model,
    profile: "remember",
    holdout: "none",
    max_length: 192,
    include_unsuccessful: false,
    train_on: "all",
    reasoning: false,
    epochs: 2,
    within: null,
    rank: 4,
    target_modules: null,
    quantization: "nf4",
  };
  const { epochs: _passes, within: _time, rank: _rank, ...ofSweeps } = windows;
  const adapter = { adapter_id: "recorded", base_model_name: name, task_type: "code-gen", seed: 7 };
  const chat = {
    base_model,
    adapter_path: output_dir,
    messages: [{ role: "user", content: "Which port does the gateway use?", tool_calls: [], tool_call_id: null }],
    tools: [],
    tool_choice: "auto",
    parallel_tool_calls: true,
    json_schema: null,
    max_tokens: 12,
    temperature: 0,
    top_p: 1,
    top_k: 0,
    min_p: 0,
    enable_thinking: null,
    stop: [],
    seed: 7,
    stream: true,
  };
  const job = (type, number, spec) => ({ type, job_id: String(number).padStart(26, "0"), spec });
  return {
    preview: { type: "preview", call_id: "1", spec: windows, window: null, tokens_per_second: null },
    lora: job("train_lora", 1, {
      ...windows,
      ...adapter,
      output_dir,
      alpha: 8,
      learning_rate: 1e-3,
      checkpoint: { dir, seconds: 0, start: "fresh" },
    }),
    sweep: job("train_sweep", 5, {
      ...ofSweeps,
      ...adapter,
      session_paths: [session_path, ...sessions.map(({ path }) => path)],
      session_ids: [session.session_id, ...tested.map(({ session_id }) => session_id)],
      profile: "learn",
      holdout: tested.map(({ session_id }) => session_id),
      output_dir: swept,
      trials: [1e-3, 2e-3].map((learning_rate) => ({ rank: 4, alpha: 8, learning_rate, epochs: 2 })),
      early_stopping: "halving",
      checkpoint: { dir: trials, seconds: 0, start: "fresh" },
    }),
    hypernetwork: job("train_hypernetwork", 2, {
      ...adapter,
      session_path,
      session_id: session.session_id,
      output_dir: generated,
      base_model,
      hypernetworks_dirs: [hypernetworks],
      include_unsuccessful: false,
      max_chunk_length: null,
      scaling: null,
      max_chunks: 16,
      compress_rank: null,
    }),
    export: job("export", 3, {
      adapter_id: adapter.adapter_id,
      adapter_path: output_dir,
      base_model,
      base_model_name: name,
      format: "gguf",
      output_dir: exported,
    }),
    evaluation: job("evaluate", 4, {
      adapter_id: adapter.adapter_id,
      adapter_path: output_dir,
      base_model,
      base_model_name: name,
      sessions,
      trained_on: [{ session_id: session.session_id, path: session_path }],
      control: null,
      actions: 1,
      seed: 2, // asks for the second call: the model repeats the first one's form and ends, 256 tokens earlier
      cache_dir,
      output_dir: evaluated,
    }),
    chat: { type: "chat", call_id: "2", spec: chat },
    render: { type: "render", call_id: "3", spec: chat },
  };
};

/** What the trainer of a set-up (.imprint/setup.json) says to each request, by the request's name; without ids and times. `only` names one. */
export async function recordWorker({ root, setup, hypernetworks = join(root, "models"), only }) {
  const work = await mkdtemp(join(tmpdir(), "imprint-recording-"));
  const trainer = startTrainer({ python: setup.python, root });
  try {
    await trainer.ready();
    const said = {};
    for (const [name, request] of Object.entries(await requestsFor({ setup, hypernetworks, work })))
      if (only === undefined || only === name) said[name] = await trainer.ask(request);
    return said;
  } finally {
    trainer.end();
    await rm(work, { recursive: true, force: true });
  }
}
