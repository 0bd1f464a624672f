import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint, start } from "../support/imprint.js";
import { EXAMPLES, type Place, place, servedPlace } from "../support/service.js";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(build, 120_000);

const SESSION = path.join(EXAMPLES, "harborline-gates.json");

async function modelAt(folder: string, files: readonly string[] = ["config.json", "model.safetensors"]): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const file of files) await writeFile(path.join(folder, file), "{}");
  return folder;
}

async function trainedOn(at: Place, baseModel: string): Promise<unknown> {
  await imprint(["import", SESSION], at);
  const train = ["train", "harborline-gates", "--base-model", baseModel, "--watch", "--json"];
  const { code, stdout, stderr } = await imprint(train, { ...at, cwd: at.root });
  expect([code, stderr.includes("error")], stderr).toEqual([0, false]);
  const adapter = await imprint(["adapter", JSON.parse(stdout).adapter_id, "--json"], at);
  return JSON.parse(adapter.stdout).base_model;
}

describe("a folder is trained on, and its adapters name it by its last part", () => {
  it("by a path relative to where the command is called", async () => {
    const at = await place();
    await modelAt(path.join(at.root, "larger-model"));
    expect(await trainedOn(at, "./larger-model")).toBe("larger-model");
    expect(JSON.parse((await imprint(["models", "--json"], at)).stdout).models).toContainEqual(
      expect.objectContaining({ name: "larger-model", here: true }),
    );
  });

  it("by its path, with a service that runs on the data directory", async () => {
    const at = await servedPlace();
    expect(await trainedOn(at, await modelAt(path.join(at.root, "larger-model")))).toBe("larger-model");
  });

  it("from the home", async () => {
    const at = await place();
    await modelAt(path.join(at.root, "larger-model"));
    expect(await trainedOn({ ...at, env: { ...at.env, HOME: at.root } }, "~/larger-model")).toBe("larger-model");
  });
});

describe.each(["train", "preview"])("imprint %s refuses a base model that cannot be used, with 2", (command) => {
  it.each([
    ["./absent", "There is no folder absent"],
    ["./no-config", "no config.json"],
    ["./pickled", "only pickled weights"],
    ["nobody", "The base model nobody is not prepared here"],
    ["some/body", "npx imprint models pull NAME fetches one"],
  ])("%s", async (baseModel, sentence) => {
    const at = await place();
    await imprint(["import", SESSION], at);
    await modelAt(path.join(at.root, "no-config"), ["model.safetensors"]);
    await modelAt(path.join(at.root, "pickled"), ["config.json", "pytorch_model.bin"]);
    const ended = await imprint([command, "harborline-gates", "--base-model", baseModel], { ...at, cwd: at.root });
    expect(ended.stderr).toContain("--base-model");
    expect(ended.stderr).toContain(sentence);
    expect(ended.code).toBe(2);
  });
});

describe("imprint serve --base-model", () => {
  it.each([
    ["/no/such", "There is no folder such"],
    ["some/body", "downloads are not allowed"],
    ["nobody", "not prepared here"],
  ])("%s does not start", async (baseModel, sentence) => {
    const at = await place();
    const { code, stdout, stderr } = await imprint(["serve", "--port", "0", "--base-model", baseModel], at);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`--base-model ${baseModel} cannot be used`);
    expect(stderr).toContain(sentence);
  });

  it("a folder relative to where it is called", async () => {
    const at = await place();
    await modelAt(path.join(at.root, "larger-model"));
    const serving = start(["serve", "--port", "0", "--base-model", "./larger-model"], at.env, at.root);
    await serving.said("Imprint is running.");
    serving.child.kill("SIGTERM");
    expect((await serving.ended).stdout).toContain(path.join(at.root, "larger-model"));
  });
});
