import { TaskMeasurements, TaskReport, taskRows } from "@imprint/contracts";
import { fieldRefused, ProblemError } from "../../common/error.js";
import type { App } from "../../http/app.js";
import { answer, idParams, problems } from "../../http/schemas.js";
import type { KindDeps } from "../../kinds/deps.js";
import { requireAdapter } from "../../registry/require-adapter.js";
import { findTasks, keepTasks } from "../../registry/tasks.js";

const params = idParams("adapter_id");

/** Runs belong to a task, a row and a seed that were asked for, one to each: else no figure would be right. */
const refuseStrayRuns = (measured: TaskMeasurements): void => {
  const names = new Set(measured.tasks.map(({ name }) => name));
  if (names.size < measured.tasks.length) throw fieldRefused("tasks", "names a task twice: each has a name of its own");
  const rows = taskRows(measured);
  const seen = new Set<string>();
  for (const { task, row, seed } of measured.runs) {
    const run = `${task} ${row} ${seed}`;
    if (!names.has(task) || !rows.includes(row) || seed >= measured.seeds)
      throw fieldRefused("runs", `has ${run}, which the tasks, the rows or the seeds do not have`);
    if (seen.has(run)) throw fieldRefused("runs", `has ${run} twice`);
    seen.add(run);
  }
};

export const taskRoutes = (app: App, { deps }: { readonly deps: KindDeps }): void => {
  const { database } = deps;

  app.put(
    "/adapters/:adapter_id/tasks",
    {
      schema: {
        tags: ["adapters"],
        summary: "Keep what an agent solved with an adapter and without it, in the place of what was kept before",
        params,
        body: TaskMeasurements,
        response: {
          200: answer("What was measured, with the verdict and the figures", TaskReport),
          ...problems("ADAPTER_NOT_FOUND"),
        },
      },
    },
    async (request) => {
      const adapter = await requireAdapter(database, request.params.adapter_id);
      refuseStrayRuns(request.body);
      return keepTasks(deps, adapter, request.body);
    },
  );

  app.get(
    "/adapters/:adapter_id/tasks",
    {
      schema: {
        tags: ["adapters"],
        summary: "What an agent solved with an adapter and without it",
        params,
        response: { 200: answer("The report", TaskReport), ...problems("ADAPTER_NOT_FOUND", "TASKS_NOT_FOUND") },
      },
    },
    async (request) => {
      const adapter = await requireAdapter(database, request.params.adapter_id);
      const found = await findTasks(deps, adapter);
      if (found) return found;
      const { adapter_id: id } = adapter;
      throw new ProblemError("TASKS_NOT_FOUND", `No agent was measured with ${id}: imprint evaluate ${id} --tasks FOLDER does.`);
    },
  );
};
