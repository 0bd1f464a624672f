import type { ExportFormat, JobDetails, JobPhase, StartResponse } from "@imprint/contracts";
import { expect } from "vitest";
import { OPERATIONS, type Stage, sendRecording } from "../simulate/operations.js";
import { pick } from "../support/from-schema.js";
import type { Killable } from "./world.js";

/** Repository of the hub's double. */
const HUB_MODEL = "me/small";

export interface Shift extends Stage<Killable> {
  /** What answers 200 as long as its adapter is there, by adapter. */
  readonly made: Map<string, Set<string>>;
  /** The job that is under way. */
  began(job: string): void;
}

export interface Work {
  /** Phases of its job in which something is killed; none: within `longest` milliseconds. */
  readonly phases?: readonly JobPhase[];
  readonly longest?: number;
  /** How often it is drawn. */
  readonly weight: number;
  /** Ends once all that it asked is answered and noted. */
  readonly run: (shift: Shift) => Promise<unknown>;
}

const ended = async ({ world, began }: Shift, asked: Promise<StartResponse>): Promise<JobDetails> => {
  const { job_id } = await asked;
  began(job_id);
  const job = await world.client.jobs.waitFor(job_id);
  // The one failure that a killed trainer explains: no job fails by itself here.
  if (job.status === "failed")
    expect(["WORKER_CRASHED", "WORKER_START_FAILED"], JSON.stringify(job.error)).toContain(job.error?.code);
  return job;
};

const importOne = async ({ world, model, fresh }: Shift, turns: number): Promise<string> => {
  const id = fresh("session");
  const confirm = model.ask(model.sessions, id, null, () => ({ turns, outcome: "unknown" as const }));
  const answer = await sendRecording(world, id, turns);
  expect(answer.status, answer.body).toBe(201);
  confirm();
  return id;
};

/** What makes a training of a short session one of seconds. */
export const QUICK = { epochs: 1, rank: 4, seed: 7, keep_harmful: true } as const;

/** Of a session of its own. */
export const train = async (shift: Shift): Promise<void> => {
  const { world, model, fresh } = shift;
  const [session_id, adapter_id] = [await importOne(shift, 1), fresh("adapter")];
  model.ask(model.adapters, adapter_id, "absent", () => "registered");
  const request = { session_id, adapter_id, ...QUICK };
  const { status } = await ended(shift, world.client.train.lora(request));
  model.adapters.set(adapter_id, [status === "completed" ? "registered" : "absent"]);
};

/** Of a registered adapter, of which the first is trained by then. */
const withAdapter =
  (start: (shift: Shift, adapter: string) => Promise<{ readonly path: string; readonly isMade: boolean }>) =>
  async (shift: Shift): Promise<void> => {
    const adapter = pick(shift.random, shift.model.registered());
    const { path, isMade } = await start(shift, adapter);
    const paths = shift.made.get(adapter) ?? new Set();
    if (isMade) shift.made.set(adapter, paths.add(path));
  };

const exporting = withAdapter(async (shift, adapter) => {
  const format = pick<ExportFormat>(shift.random, ["gguf", "gguf", "merged"]);
  const { status } = await ended(shift, shift.world.client.adapters.export(adapter, format));
  return { path: `exports/${format}`, isMade: status === "completed" };
});

const evaluating = withAdapter(async (shift, adapter) => {
  const request = { session_ids: [await importOne(shift, 1)], actions: 0 };
  const { status } = await ended(shift, shift.world.client.adapters.evaluate(adapter, request));
  return { path: "evaluation", isMade: status === "completed" };
});

const task = { name: "one", sha256: "0".repeat(64), family: null, prompt: "Fix it.", session_id: null };
const spent = { detail: null, turns: 2, prompt_tokens: 50, completion_tokens: 5, seconds: 1.5, session_id: null };
const runs = (["base", "adapter"] as const).map((row) => ({ task: "one", row, seed: 0, outcome: "solved" as const, ...spent }));
const puttingTasks = withAdapter(async ({ world }, adapter) => {
  await world.client.adapters.putTasks(adapter, { agent: "mini", control_adapter_id: null, seeds: 1, tasks: [task], runs });
  return { path: "tasks", isMade: true };
});

const pulling = async (shift: Shift): Promise<void> => {
  const { client } = shift.world;
  const { status } = await ended(shift, client.models.pull(HUB_MODEL));
  if (status !== "completed") return;
  const isThere = async () => (await client.models.bases()).models.some(({ name, here }) => name === HUB_MODEL && here);
  expect(await isThere()).toBe(true);
  await client.models.delete(HUB_MODEL);
  expect(await isThere()).toBe(false);
};

/** Phases of a training on this machine. */
export const TRAINING: readonly JobPhase[] = [
  "starting",
  "loading_model",
  "preparing_data",
  "training",
  "saving",
  "proving",
  "registering",
];

export const WORK: Readonly<Record<string, Work>> = {
  "training and proof": { phases: TRAINING, weight: 8, run: train },
  preview: {
    longest: 1_500,
    weight: 1,
    run: async (shift) => shift.world.client.sessions.preview(await importOne(shift, 1), {}),
  },
  export: { phases: ["starting", "exporting", "registering"], weight: 3, run: exporting },
  evaluation: { phases: ["starting", "loading_model", "measuring", "registering"], weight: 3, run: evaluating },
  "tasks' report": { longest: 30, weight: 1, run: puttingTasks },
  import: { longest: 700, weight: 3, run: (shift) => importOne(shift, Math.ceil(shift.random() * 1_500)) },
  "import that grows": { longest: 40, weight: 1, run: OPERATIONS.importSession },
  label: { longest: 20, weight: 1, run: OPERATIONS.labelSession },
  "deletion of a session": { longest: 20, weight: 1, run: OPERATIONS.deleteSession },
  "deletion of an adapter": { longest: 40, weight: 2, run: OPERATIONS.deleteAdapter },
  pull: { phases: ["fetching"], weight: 2, run: pulling },
};
