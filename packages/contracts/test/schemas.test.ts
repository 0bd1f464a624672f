import { readFile } from "node:fs/promises";
import { TOOL_CALL_FORMATS, WorkerEvent, WorkerRequest } from "@imprint/contracts";
import { expect, it } from "vitest";

it.each([
  ["tests/fixtures/worker-schema.json", { WorkerRequest, WorkerEvent }],
  ["src/imprint_trainer/data/tool-calls.json", TOOL_CALL_FORMATS],
])("the trainer's %s is what the contracts say (node scripts/generate-schemas.mjs)", async (path, value) => {
  const file = new URL(`../../../trainer/${path}`, import.meta.url);
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual(JSON.parse(JSON.stringify(value)));
});
