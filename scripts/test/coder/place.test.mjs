import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createPlace } from "../../lib/coder/place.mjs";

/** A place whose command is this program. */
function placeOf(program, options) {
  const root = mkdtempSync(path.join(os.tmpdir(), "imprint-coder-test-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const folder = path.join(root, "packages", "cli", "bin");
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "imprint.mjs"), program);
  const env = { ...process.env, IMPRINT_DATA_DIR: "/elsewhere", HF_TOKEN: "own" };
  return createPlace({ folder: root, root, env, ...options });
}

test("the command runs in an empty home, without this user's settings, and its document is the result", async () => {
  const place = placeOf(
    `const { HOME, IMPRINT_DATA_DIR, HF_TOKEN } = process.env;
     console.error("working");
     console.log(JSON.stringify({ HOME, IMPRINT_DATA_DIR, HF_TOKEN, args: process.argv.slice(2) }));`,
  );
  expect(await place.imprint("models")).toEqual({ HOME: path.dirname(place.dataDir), args: ["models", "--json"] });
});

test("a command that says nothing for too long fails, with what it said last", async () => {
  const place = placeOf('console.error("reading"); console.log("{}");', { longestSilenceMs: 0 });
  await expect(place.imprint("train")).rejects.toThrow(/^imprint train was silent for \d+ s after: its start$/);
});

test("a refusal is the error of the document, and a command that is not refused fails", async () => {
  const refused = placeOf('console.log(\'{"error":{"code":"NO"}}\'); process.exitCode = 1;');
  expect(await refused.refusal("train")).toEqual({ code: "NO" });
  await expect(placeOf("console.log('{}')").refusal("train")).rejects.toThrow("imprint train was not refused");
});
