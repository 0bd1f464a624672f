import { writeFileSync } from "node:fs";
import { join } from "node:path";
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

/** The same, with `first-run` evaluated on a session that it has not seen, against `second-run`, and a project of two runs. */
export const startEvaluated = async (): Promise<Service & { readonly jobId: string; readonly evaluationId: string }> => {
  const service = await startTrained();
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
