import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it("the recorded examples are what their attempts give when they run again", async () => {
  const record = fileURLToPath(new URL("../../examples/record.mjs", import.meta.url));
  await expect(promisify(execFile)(process.execPath, [record, "--check"])).resolves.toMatchObject({ stderr: "" });
});
