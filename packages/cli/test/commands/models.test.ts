import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { findRepoRoot, readSetup } from "@imprint/server/configuration";
import { beforeAll, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint } from "../support/imprint.js";
import { type Place, place } from "../support/service.js";

vi.setConfig({ testTimeout: 120_000 });
beforeAll(build, 120_000);

/** A data directory of its own, with the interpreter that the set-up prepared, and a hub's cache of its own. */
const realPlace = async (): Promise<Place> => {
  const at = await place();
  const { IMPRINT_BASE_MODEL: _, ...env } = at.env;
  const IMPRINT_PYTHON = readSetup(findRepoRoot())?.python ?? "the set-up has not run";
  return { ...at, env: { ...env, IMPRINT_PYTHON, HF_HOME: path.join(at.root, "hub"), NO_PROXY: "127.0.0.1" } };
};

const settings = (at: Place): unknown => JSON.parse(readFileSync(path.join(at.dataDir, "config.json"), "utf8"));

it("a folder is added by its name, becomes the default, and is removed without its files", async () => {
  const at = await realPlace();
  const folder = path.join(at.root, "tiny-model");
  const added = await imprint(["models", "add", folder], at);
  expect([added.code, added.stderr]).toEqual([0, ""]);
  expect(added.stdout).toContain("train SESSION --base-model tiny-model --watch");
  expect(lstatSync(path.join(at.dataDir, "models", "tiny-model")).isSymbolicLink()).toBe(true);

  writeFileSync(path.join(at.dataDir, "config.json"), JSON.stringify({ port: 7979 }));
  expect((await imprint(["models", "default", "tiny-model"], at)).stdout).toContain("tiny-model is the default");
  expect(settings(at)).toEqual({ port: 7979, base_model: "tiny-model" });
  const { stdout } = await imprint(["models"], at);
  expect(stdout).toMatch(/^tiny-model \(default\) .* none +folder/m);
  expect(stdout).toMatch(/^qwen2\.5-coder-0\.5b-instruct +491 MB to fetch +apache-2\.0 +32,768 +with tools +\S.* models pull /m);

  const kept = await imprint(["models", "rm", "tiny-model"], at);
  expect([kept.code, kept.stderr]).toEqual([2, expect.stringContaining("models default NAME")]);
  const env = { ...at.env, IMPRINT_BASE_MODEL: "other" };
  const wins = await imprint(["models", "default", "tiny-model"], { env });
  expect(wins.stdout).toContain("The environment names other, which wins.");
  expect((await imprint(["models", "rm", "tiny-model"], { env })).code).toBe(0);
  expect(existsSync(path.join(folder, "config.json"))).toBe(true);
});

it("a hub that cannot be reached and a broken file are sentences, and leave nothing half there", async () => {
  const at = await realPlace();
  const offline = await imprint(["models", "pull", "me/tiny"], { env: { ...at.env, HF_ENDPOINT: "http://127.0.0.1:1" } });
  expect([offline.code, offline.stdout]).toEqual([1, ""]);
  expect(offline.stderr).toMatch(/^error: the hub http:\/\/127\.0\.0\.1:1 cannot be reached for me\/tiny/);

  writeFileSync(path.join(at.root, "broken.gguf"), "GGUF");
  const broken = await imprint(["models", "add", path.join(at.root, "broken.gguf"), "--name", "broken"], at);
  expect([broken.code, broken.stdout]).toEqual([1, ""]);
  expect(broken.stderr).toContain("broken.gguf cannot be read as GGUF");
  const listed = JSON.parse((await imprint(["models", "--json"], at)).stdout).models as { name: string; here: boolean }[];
  expect(listed.filter(({ name, here }) => here && ["me/tiny", "broken"].includes(name))).toEqual([]);
});

it("a name that is none, and a name that is taken, are wrong usage", async () => {
  const at = await realPlace();
  mkdirSync(path.join(at.dataDir, "models", "taken"), { recursive: true });
  writeFileSync(path.join(at.root, "taken.gguf"), "GGUF");
  for (const [line, said] of [
    ["pull ../x", "neither a name of a model nor a hub id"],
    ["default nobody", "not prepared here"],
    ["rm nobody", "There is no base model nobody"],
    [`add ${at.root}/absent`, "There is no folder absent"],
    [`add ${at.root}/tiny-model --name x`, "a folder goes by its own name"],
    [`add ${at.root}/taken.gguf`, "another base model is called taken here"],
  ] as const) {
    const { code, stderr } = await imprint(["models", ...line.split(" ")], at);
    expect([code, stderr], line).toEqual([2, expect.stringContaining(said)]);
  }
});
