import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint } from "../support/imprint.js";
import { EXAMPLES, servedPlace } from "../support/service.js";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(build, 120_000);

/** A place with the adapter `gates`. */
async function trained(behaviour: object = {}) {
  const at = await servedPlace(() => ({ ...behaviour }));
  await imprint(["import", path.join(EXAMPLES, "harborline-gates.json")], at);
  await imprint(["train", "harborline-gates", "--adapter-id", "gates", "--watch"], at);
  const own = path.join(at.dataDir, "adapters", "gates");
  return { ...at, own, out: (name: string) => path.join(at.root, name) };
}

it("writes a GGUF file, a merged model and the adapter's own folder", async () => {
  const { out, own, ...at } = await trained();
  const gguf = await imprint(["export", "gates", "--format", "gguf", "--out", out("g.gguf")], at);
  expect(gguf).toMatchObject({ code: 0, stdout: expect.stringMatching(/g\.gguf: 1 file, /) });
  expect(gguf.stderr).toContain("completed\n");
  expect((await readFile(out("g.gguf"))).subarray(0, 4).toString()).toBe("GGUF");

  const merged = await imprint(["export", "gates", "--format", "merged", "--out", out("merged"), "--json"], at);
  const document = JSON.parse(merged.stdout);
  expect(document).toMatchObject({ adapter_id: "gates", format: "merged", path: out("merged") });
  expect((await readdir(out("merged"))).sort()).toEqual(["config.json", "model.safetensors"]);
  expect(document.files.map(({ name }: { name: string }) => name)).toEqual(["config.json", "model.safetensors"]);

  expect((await imprint(["export", "gates", "--format", "peft", "--out", out("peft")], at)).code).toBe(0);
  for (const name of await readdir(own))
    expect(await readFile(path.join(out("peft"), name))).toEqual(await readFile(path.join(own, name)));
});

it("overwrites nothing without --force, and puts a GGUF file into a folder that is there", async () => {
  const { out, own: _own, ...at } = await trained();
  await writeFile(out("mine"), "mine");
  await mkdir(out("full"));
  await writeFile(path.join(out("full"), "gates.gguf"), "mine");
  const run = (format: string, name: string, ...more: string[]) =>
    imprint(["export", "gates", "--format", format, "--out", out(name), ...more], at);
  for (const [format, name, sentence] of [
    ["gguf", "mine", "exists: choose another name, or overwrite with --force"],
    ["gguf", "full", "exists: choose another name, or overwrite with --force"],
    ["merged", "full", "is not empty: choose another folder, or overwrite with --force"],
    ["peft", "mine", "is a file: this format is a folder"],
  ] as const)
    expect(await run(format, name)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(sentence) });
  expect(await readFile(out("mine"), "utf8")).toBe("mine");
  expect((await run("gguf", "full", "--force")).code).toBe(0);
  expect((await readFile(path.join(out("full"), "gates.gguf"))).subarray(0, 4).toString()).toBe("GGUF");
  expect(await readdir(out("full"))).toEqual(["gates.gguf"]);
});

it("a failed export is exit code 1 with its sentence, wrong usage 2", async () => {
  const fail = { code: "EXPORT_UNSUPPORTED", message: "llama.cpp knows no such layer.", hint: "Merge it." };
  const { out, own: _own, ...at } = await trained({ export: { fail } });
  const failed = await imprint(["export", "gates", "--format", "gguf", "--out", out("g.gguf"), "--json"], at);
  expect(failed.code).toBe(1);
  expect(JSON.parse(failed.stdout).error).toMatchObject({ code: "EXPORT_UNSUPPORTED" });
  expect(failed.stdout).toContain("llama.cpp knows no such layer.");
  const unknown = await imprint(["export", "none", "--format", "gguf", "--out", out("g.gguf")], at);
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no adapter "none".') });
  for (const args of [
    ["--format", "onnx", "--out", "x"],
    ["--format", "gguf"],
    ["--out", "x"],
  ])
    expect((await imprint(["export", "gates", ...args], at)).code).toBe(2);
});

it("a base model is written once where the service looks for it, or to a file", async () => {
  const at = await servedPlace();
  const folder = path.join(at.root, "tiny-model");
  await writeFile(path.join(folder, "config.json"), "{}");
  await writeFile(path.join(folder, "model.safetensors"), "");
  const python = path.join(at.root, "writer");
  // `-m imprint_trainer gguf --base FOLDER --quantization Q --out FILE`
  await writeFile(python, `#!/bin/sh\necho "$3 $4 $7" >> "${at.root}/seen"\nprintf GGUF > "$9"\n`);
  await chmod(python, 0o755);
  const env = { ...at.env, IMPRINT_PYTHON: python, IMPRINT_BASE_MODEL: folder };
  const run = (...args: string[]) => imprint(["export", "--format", "gguf", "--json", ...args], { env });
  const first = JSON.parse((await run("--base")).stdout);
  expect(first).toMatchObject({ base_model: "tiny-model", format: "gguf", quantization: "nf4", size: 4, made: true });
  expect(first.path.startsWith(path.join(at.dataDir, "gguf", "base-"))).toBe(true);
  expect(JSON.parse((await run("--base")).stdout)).toMatchObject({ path: first.path, made: false });
  const out = path.join(at.root, "b.gguf");
  expect(JSON.parse((await run("--base", folder, "--quantization", "none", "--out", out)).stdout)).toMatchObject({ path: out });
  expect((await readFile(path.join(at.root, "seen"), "utf8")).trim().split("\n")).toEqual([
    "gguf --base nf4",
    "gguf --base none",
  ]);
  for (const args of [["gates", "--base"], ["--base", "absent"], []])
    expect((await imprint(["export", "--format", "gguf", ...args], { env })).code).toBe(2);
  expect((await imprint(["export", "--format", "merged", "--base"], { env })).code).toBe(2);
});

it("push hands the verified files to the hub library, which may reach the hub", async () => {
  const { root, own, out: _out, ...at } = await trained();
  const python = path.join(root, "hub-python");
  const script = [
    "#!/bin/sh",
    `ls -A "$3" > "${root}/seen"`,
    `echo "$2 $4 $5 offline=$HF_HUB_OFFLINE" >> "${root}/seen"`,
    `echo '{"repo": "me/gates", "url": "http://hub/me/gates", "commit": "c1"}'`,
  ];
  await writeFile(python, script.join("\n"));
  await chmod(python, 0o755);
  const pushed = await imprint(["push", "gates", "me/gates", "--private"], { env: { ...at.env, IMPRINT_PYTHON: python } });
  expect(pushed).toEqual({ code: 0, stdout: "gates is at http://hub/me/gates\n", stderr: "" });
  const seen = (await readFile(path.join(root, "seen"), "utf8")).trim().split("\n");
  expect(seen.pop()).toBe("imprint_trainer.hub me/gates --private offline=0");
  expect(seen.sort()).toEqual((await readdir(own)).sort());

  await writeFile(path.join(own, "adapter_model.safetensors"), "damaged");
  const damaged = await imprint(["push", "gates", "me/gates"], at);
  expect(damaged).toMatchObject({ code: 1, stderr: expect.stringContaining("are corrupt: train it again") });
  expect((await imprint(["push", "gates", "../elsewhere"], at)).code).toBe(2);
});
