// Writes what the trainer reads of the contracts: the worker protocol's JSON Schemas for its tests, and the table of tool calls.
// Run after `npm run build`.
import { writeFile } from "node:fs/promises";
import { TOOL_CALL_FORMATS, WorkerEvent, WorkerRequest } from "@imprint/contracts";

const written = {
  "tests/fixtures/worker-schema.json": { WorkerRequest, WorkerEvent },
  "src/imprint_trainer/data/tool-calls.json": TOOL_CALL_FORMATS,
};
for (const [path, value] of Object.entries(written))
  await writeFile(new URL(`../trainer/${path}`, import.meta.url), `${JSON.stringify(value, null, 2)}\n`);
