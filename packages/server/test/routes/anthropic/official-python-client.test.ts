import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { findRepoRoot, readSetup } from "../../../src/config/setup.js";
import { MODEL, startService } from "../../support/service.js";

const SCRIPT = fileURLToPath(new URL("../../fixtures/clients/converse.py", import.meta.url));
const CALL = '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>';

test("the official Python package calls tools, whole and streamed, and counts tokens", { timeout: 120_000 }, async () => {
  const setup = readSetup(findRepoRoot());
  if (setup === null) throw new Error("run npm run setup -- --dev first: this test runs the Python package");
  const { url } = await startService({ behaviour: { script: [`So:\n${CALL}`, `Done.\n${CALL}`] } });
  const { stdout } = await promisify(execFile)(setup.python, [SCRIPT, url, MODEL]);
  expect(JSON.parse(stdout)).toEqual({
    said: [
      ["tool_use", ["So:", ["bash", { command: "ls" }]], 4],
      ["tool_use", ["Done.", ["bash", { command: "ls" }]], expect.any(Number)],
      "Done.",
    ],
    counted: 4,
    refused: [404, "not_found_error"],
  });
});
