import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TaskMeasurements, TaskRun } from "@imprint/contracts";
import { putDays, run } from "../../../../server/test/projects/support.js";
import { makeFolder, type Service, startLora, startService } from "../../../../server/test/support/service.js";
import { makeSession, putSession } from "../../../../server/test/support/session.js";

export { makeFolder, type Service, startLora, startService } from "../../../../server/test/support/service.js";
export { makeSession, putSession } from "../../../../server/test/support/session.js";

/** A file that a worker of `behaviour` waits for, and what makes it. */
export const makeGate = (): { readonly path: string; readonly open: () => void } => {
  const path = join(makeFolder(), "gate");
  return { path, open: () => writeFileSync(path, "") };
};

export const SESSION = "adds-two-numbers";

/** A service with a session, and two adapters trained on it: `first-run` and `second-run`. */
export const startTrained = async (): Promise<Service & { readonly jobId: string }> => {
  const dataDir = makeFolder();
  putSession(dataDir, SESSION, makeSession(SESSION, { redactions: [{ kind: "api_key", count: 3 }] }));
  const service = await startService({ dataDir, behaviour: { steps: 30 } });
  const jobId = await startLora(service, { session_id: SESSION, adapter_id: "first-run", metadata: { note: "a first try" } });
  await service.ended(jobId);
  await service.ended(await startLora(service, { session_id: SESSION, adapter_id: "second-run", epochs: 2 }));
  return { ...service, jobId };
};

/** What an agent solved of two tasks: in the base nothing, with the adapter one; the conversation of that run is `SESSION`. */
export const measuredTasks = (more: Partial<TaskMeasurements> = {}): TaskMeasurements => {
  const run = (task: string, row: TaskRun["row"], outcome: TaskRun["outcome"], rest: Partial<TaskRun> = {}): TaskRun => ({
    ...{ task, row, seed: 0, outcome, detail: null, turns: 2, prompt_tokens: 900, completion_tokens: 60, seconds: 12 },
    ...{ session_id: null, ...rest },
  });
  const task = (name: string) => ({ name, sha256: "0".repeat(64), family: null, prompt: `Do ${name}.`, session_id: SESSION });
  return {
    ...{ agent: "mini-swe-agent", control_adapter_id: null, seeds: 1 },
    tasks: [task("wire-gate"), task("wire-lock")],
    runs: [
      run("wire-gate", "base", "no_call"),
      run("wire-gate", "adapter", "solved", { session_id: SESSION }),
      run("wire-gate", "session", "check_failed"),
      run("wire-lock", "base", "limit", { detail: "after 30 turns" }),
      run("wire-lock", "adapter", "wrong_file", { detail: "notes.txt" }),
      run("wire-lock", "session", "error", { detail: "mini broke" }),
    ],
    ...more,
  };
};

export const putTasks = async (service: Service, adapter: string, measured: TaskMeasurements): Promise<void> => {
  const { statusCode, body } = await service.call({ method: "PUT", url: `/adapters/${adapter}/tasks`, payload: measured });
  if (statusCode !== 200) throw new Error(body);
};

/** The same, with `first-run` evaluated on tasks, and on a session that it has not seen, against `second-run`, and a project of two runs. */
export const startEvaluated = async (): Promise<Service & { readonly jobId: string; readonly evaluationId: string }> => {
  const service = await startTrained();
  await putTasks(service, "first-run", measuredTasks());
  putSession(service.dataDir, "unseen");
  const body = { session_ids: ["unseen"], control_adapter_id: "second-run" };
  const response = await service.post("/adapters/first-run/evaluate", body);
  const evaluationId = response.json<{ job_id: string }>().job_id;
  await service.ended(evaluationId);
  putDays(service, ["monday", "tuesday", "wednesday"]);
  await run(service, "two-runs", { session_ids: ["monday", "tuesday"] });
  await run(service, "two-runs", { session_ids: ["wednesday"] });
  return { ...service, evaluationId };
};
