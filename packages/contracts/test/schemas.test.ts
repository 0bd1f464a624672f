import { readFile } from "node:fs/promises";
import { WorkerEvent, WorkerRequest } from "@imprint/contracts";
import { expect, it } from "vitest";

it("the schemas that the trainer's tests read are those of the contracts (node scripts/generate-schemas.mjs)", async () => {
  const file = new URL("../../../trainer/tests/fixtures/worker-schema.json", import.meta.url);
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual(JSON.parse(JSON.stringify({ WorkerRequest, WorkerEvent })));
});
