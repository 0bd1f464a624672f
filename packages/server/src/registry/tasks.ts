import { randomUUID } from "node:crypto";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { type TaskMeasurements, TaskReport, taskReport, taskSummary } from "@imprint/contracts";
import { readRecord, syncPath, writeSynced } from "../storage/durable.js";
import { inTransaction } from "../storage/transaction.js";
import { type AdapterRow, recordOf } from "./adapters.js";
import { changingFiles, homeOf, type Registry } from "./health.js";

const FILE = "tasks.json";

/** What was measured of an adapter on tasks; null where there is nothing that can be read. */
export const findTasks = async ({ paths }: Registry, adapter: AdapterRow): Promise<TaskReport | null> =>
  adapter.tasks && readRecord(TaskReport, join(homeOf(paths, adapter), FILE));

/**
 * Keeps what was measured beside the adapter's proof, in the place of what was kept before, and says what it means. The file is none
 * of those that the adapter is made of: it grows with every run, and is told as a whole each time.
 */
export const keepTasks = async (
  { database, paths }: Registry,
  adapter: AdapterRow,
  measured: TaskMeasurements,
): Promise<TaskReport> => {
  const { adapter_id, base_model } = adapter;
  const report = taskReport({ adapter_id, base_model }, measured);
  const home = homeOf(paths, adapter);
  // Half a file among those of the adapter would make it corrupt.
  const written = join(paths.staging, `${adapter_id}.${randomUUID()}.json`);
  await writeSynced(written, JSON.stringify(report));
  await changingFiles([home], async () => {
    await rename(written, join(home, FILE));
    await syncPath(home, { folder: true });
    await inTransaction(database, (db) => recordOf(db, adapter_id, { tasks: taskSummary(report) }));
  });
  return report;
};
