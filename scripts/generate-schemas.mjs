// Writes the worker protocol's JSON Schemas to where the trainer's tests read them. Run after `npm run build`.
import { writeFile } from "node:fs/promises";
import { WorkerEvent, WorkerRequest } from "@imprint/contracts";

const file = new URL("../trainer/tests/fixtures/worker-schema.json", import.meta.url);
await writeFile(file, `${JSON.stringify({ WorkerRequest, WorkerEvent })}\n`);
