import { createHash } from "node:crypto";
import { ApiError, type Imprint, NotFoundError } from "@imprint/client";
import {
  isTried,
  type MeasuredTask,
  type TaskMeasurements,
  type TaskReport,
  type TaskRowName,
  type TaskRun,
  taskRows,
} from "@imprint/contracts";
import { UsageError } from "../../errors.js";
import { waitingFor } from "../../output/printer.js";
import { count } from "../../output/text.js";
import { inTemporary } from "../folders.js";
import type { LoadedTask } from "../task-file.js";
import { type Bench, type Cell, runCell } from "./cell.js";
import { mostLike, promptWith, stored } from "./similar.js";

export interface Evaluating extends Omit<Bench, "folder" | "context"> {
  readonly adapterId: string;
  readonly controlId: string | null;
  readonly tasks: readonly LoadedTask[];
  readonly seeds: number;
  readonly note: (text: string) => void;
}

const outcomeText = (run: TaskRun): string =>
  `${run.outcome.replaceAll("_", " ")}${run.detail === null ? "" : `: ${run.detail}`}`;

/** What was measured of the same tasks, by the same agent, and is not measured again. What could not work is tried again. */
function kept(earlier: TaskReport | null, now: Omit<TaskMeasurements, "runs">): readonly TaskRun[] {
  if (earlier === null || earlier.agent !== now.agent) return [];
  const rows = taskRows(now);
  const isSame = ({ task, row, seed, outcome }: TaskRun): boolean => {
    const [was, is] = [earlier, now].map(({ tasks }) => tasks.find(({ name }) => name === task));
    if (outcome === "error" || seed >= now.seeds || !rows.includes(row) || was === undefined || was.sha256 !== is?.sha256)
      return false;
    if (row === "session") return was.session_id === is.session_id;
    return row !== "control" || earlier.control_adapter_id === now.control_adapter_id;
  };
  return earlier.runs.filter(isSame);
}

const orNull = (error: unknown): null => {
  if (error instanceof NotFoundError) return null;
  throw error;
};

/** Has each model loaded before the clock of a task runs. What cannot be loaded says so in every run. */
async function load(
  client: Imprint,
  models: readonly string[],
  { note, signal }: Pick<Evaluating, "note" | "signal">,
): Promise<void> {
  const ask = (model: string): Promise<unknown> =>
    client.chat.completions
      .create({ model, messages: [{ role: "user", content: "Hello" }], max_tokens: 1 }, { signal })
      .catch((error: unknown) => {
        if (!(error instanceof ApiError) && !signal.aborted) throw error;
      });
  for (const model of models) await waitingFor(`loading ${model}`, ask(model), note);
}

/** The tokens that a base model reads, where its files say. */
const contextOf = async (client: Imprint, baseModel: string): Promise<number | null> =>
  (await client.models.list()).data.find(({ id }) => id === baseModel)?.context_length ?? null;

/**
 * Lets an agent try each task in each row that was not measured yet, and keeps what it found with the service after each. Resolves with
 * the report, once the signal ends it with what there is.
 */
export async function evaluateTasks({ adapterId, controlId, tasks, seeds, note, ...given }: Evaluating): Promise<TaskReport> {
  const { client, agent, signal } = given;
  const { base_model: baseModel, session_ids } = await client.adapters.get(adapterId);
  const { base_model: other } = await client.adapters.get(controlId ?? adapterId);
  if (other !== baseModel)
    throw new UsageError(
      `--control ${controlId} is an adapter of ${other}, and not of ${baseModel}: compare adapters of one base model`,
    );
  const sessions = await stored(client, session_ids);
  const measured: MeasuredTask[] = tasks.map(({ task }) => ({
    name: task.name,
    sha256: createHash("sha256").update(JSON.stringify(task)).digest("hex"),
    family: task.family ?? null,
    prompt: task.prompt,
    session_id: mostLike(sessions, task.prompt)?.session_id ?? null,
  }));
  const plan = { agent: agent.name, control_adapter_id: controlId, seeds, tasks: measured };
  const runs = [...kept(await client.adapters.tasks(adapterId).catch(orNull), plan)];
  const keep = (): Promise<TaskReport> => client.adapters.putTasks(adapterId, { ...plan, runs });

  const models: Readonly<Record<TaskRowName, string>> = {
    ...{ base: baseModel, adapter: adapterId, session: baseModel, control: controlId ?? baseModel },
  };
  const context = await contextOf(client, baseModel);
  const cells = Array.from({ length: seeds }, (_, seed) =>
    tasks.flatMap((loaded, at) =>
      taskRows(plan)
        .filter((row) => isTried(row, measured[at] as MeasuredTask))
        .map((row) => ({ loaded, row, seed, model: models[row], session: row === "session" ? measured[at]?.session_id : null })),
    ),
  ).flat();
  const open = cells.filter(
    ({ loaded, row, seed }) => !runs.some((run) => run.task === loaded.task.name && run.row === row && run.seed === seed),
  );
  note(
    `${count(cells.length, "run")} of ${agent.name}${runs.length === 0 ? "" : `, of which ${runs.length} are measured already`}, in ${given.sandbox.name === "none" ? "no sandbox" : given.sandbox.name}.`,
  );
  let report = await keep();
  await load(client, [...new Set(open.map(({ model }) => model))], { note, signal });
  await inTemporary(async (folder) => {
    for (const { session, ...rest } of open) {
      const { prompt } = rest.loaded.task;
      const cell: Cell = {
        ...rest,
        prompt: session == null ? prompt : promptWith(await client.sessions.content(session), prompt, context ?? 8192),
      };
      const run = await runCell({ ...given, context, folder }, cell).catch((error: unknown) => {
        if (signal.aborted) return null;
        throw error;
      });
      if (run === null || signal.aborted) break;
      runs.push(run);
      report = await keep();
      const cost = `${count(run.turns, "turn")}, ${run.seconds.toFixed(0)} s`;
      note(`${runs.length}/${cells.length}  ${run.task}  ${run.row}  ${outcomeText(run)} (${cost})`);
    }
  });
  return report;
}
