// Writes what the trainer reads of the contracts: the worker protocol's JSON Schemas for its tests, and the table of tool calls.
// Run after `npm run build`.
import { writeFile } from "node:fs/promises";
import { TOOL_CALL_FORMATS, WorkerEvent, WorkerRequest } from "@imprint/contracts";

/** Without sentences for people, of which a test of values needs none, and with values that one may have as a list. */
const brief = (key, value) => {
  if (key === "description" && typeof value === "string") return undefined;
  return value?.anyOf?.every?.((one) => "const" in one) ? { enum: value.anyOf.map((one) => one.const) } : value;
};
const write = (path, text) => writeFile(new URL(`../trainer/${path}`, import.meta.url), `${text}\n`);
await write("tests/fixtures/worker-schema.json", JSON.stringify({ WorkerRequest, WorkerEvent }, brief));
await write("src/imprint_trainer/data/tool-calls.json", JSON.stringify(TOOL_CALL_FORMATS));
