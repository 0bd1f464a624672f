import { readFile } from "node:fs/promises";
import { TOOL_CALL_FORMATS, WorkerEvent, WorkerRequest } from "@imprint/contracts";
import { expect, it } from "vitest";

const brief = (key: string, value: unknown): unknown => {
  const { anyOf } = (value ?? {}) as { anyOf?: { const?: unknown }[] };
  if (key === "description" && typeof value === "string") return undefined;
  return Array.isArray(anyOf) && anyOf.every((one) => "const" in one) ? { enum: anyOf.map((one) => one.const) } : value;
};

it.each([
  ["tests/fixtures/worker-schema.json", JSON.stringify({ WorkerRequest, WorkerEvent }, brief)],
  ["src/imprint_trainer/data/tool-calls.json", JSON.stringify(TOOL_CALL_FORMATS)],
])("the trainer's %s is what the contracts say (node scripts/generate-schemas.mjs)", async (path, text) => {
  const file = new URL(`../../../trainer/${path}`, import.meta.url);
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual(JSON.parse(text));
});
