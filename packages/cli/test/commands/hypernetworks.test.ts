import { mkdirSync } from "node:fs";
import path from "node:path";
import { findRepoRoot, readSetup } from "@imprint/server/configuration";
import { beforeAll, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint } from "../support/imprint.js";
import { type Place, place } from "../support/service.js";

vi.setConfig({ testTimeout: 120_000 });
beforeAll(build, 120_000);

/** A data directory of its own, with the interpreter that the set-up prepared. */
const realPlace = async (): Promise<Place> => {
  const at = await place();
  return { ...at, env: { ...at.env, IMPRINT_PYTHON: readSetup(findRepoRoot())?.python ?? "the set-up has not run" } };
};

const CHECKPOINT = path.join(findRepoRoot(), "trainer/tests/fixtures/doc-to-lora/pickle-llama-one-chunk/pytorch_model.bin");

it("a converted checkpoint is listed, and one of another base is refused", async () => {
  const at = await realPlace();
  const convert = (base: string): string[] => ["hypernetworks", "convert", CHECKPOINT, "--base", base, "--name", "mine"];
  const refused = await imprint(convert("other"), at);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("The checkpoint was trained for base, not for other.");
  const made = await imprint(convert("base"), at);
  expect([made.code, made.stderr]).toEqual([0, ""]);
  expect(made.stdout).toMatch(
    /^mine is installed: .* train SESSION --method hypernetwork uses it where the base model is base\.\n$/,
  );
  const second = await imprint([...convert("base").slice(0, -1), "other"], at);
  expect(second.stdout).toBe("other is installed, and not used: of the hypernetworks for base, mine comes first by name.\n");
  const { stdout } = await imprint(["hypernetworks", "list", "--json"], at);
  expect(JSON.parse(stdout).hypernetworks).toContainEqual(
    expect.objectContaining({ name: "mine", base_model: "base", problem: null }),
  );
});

it("a measurement without text to read is refused before any model is loaded", async () => {
  const at = await realPlace();
  mkdirSync(path.join(at.root, "empty"));
  const texts = path.join(at.root, "empty");
  const args = ["hypernetworks", "measure", "--base", path.join(at.root, "absent"), "--texts", texts, "--name", "mine"];
  const { code, stderr } = await imprint(args, at);
  expect(code).toBe(2);
  expect(stderr).toContain("--texts: no text file in empty: name others.");
});
