import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ImprintError } from "../../src/common/error.js";
import {
  type BaseModels,
  fallbackName,
  locateBaseModel,
  preparedModels,
  requestedBaseModel,
} from "../../src/models/base-model.js";
import { makeFolder, makeModel } from "../support/service.js";

const make = (changes: Partial<BaseModels> = {}) => {
  const root = makeFolder();
  const folder = join(root, "models");
  for (const name of ["models/prepared", "elsewhere/known", "own/folder-model"]) makeModel(join(root, name));
  const setup = {
    python: "python",
    default_model: "known",
    models: { known: join(root, "elsewhere/known"), lost: join(root, "gone") },
  };
  const hubCache = join(root, "hub");
  return { root, models: { fallback: "known", setup, folder, roots: [], allowDownloads: false, hubCache, ...changes } };
};

const codeOf = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    if (error instanceof ImprintError) return error.code;
    throw error;
  }
  return "no error";
};

test("a model is found by its name: prepared by setup, in the data directory, or the configured folder", () => {
  const { root, models } = make();
  expect(locateBaseModel("known", models)).toEqual({ location: join(root, "elsewhere/known"), name: "known" });
  expect(locateBaseModel("prepared", models)).toEqual({ location: join(root, "models/prepared"), name: "prepared" });
  const own = { ...models, fallback: join(root, "own/folder-model") };
  expect(fallbackName(own)).toBe("folder-model");
  expect(locateBaseModel("folder-model", own).location).toBe(own.fallback);
});

test("a hub id is used when downloads are allowed, or when it was downloaded before", () => {
  const { root, models } = make();
  const found = { location: "owner/name", name: "owner/name" };
  expect(() => requestedBaseModel("owner/name", models)).toThrow(/not on this machine, and downloads are not allowed/);
  expect(requestedBaseModel("owner/name", { ...models, allowDownloads: true })).toEqual(found);
  const cached = join(root, "hub/models--owner--name");
  mkdirSync(join(cached, "refs"), { recursive: true });
  writeFileSync(join(cached, "refs/main"), "0123456789\n");
  expect(codeOf(() => requestedBaseModel("owner/name", models))).toBe("BASE_MODEL_NOT_FOUND");
  const snapshot = makeModel(join(cached, "snapshots/0123456789"), ["config.json", "pytorch_model.bin"]);
  expect(codeOf(() => requestedBaseModel("owner/name", models))).toBe("BASE_MODEL_UNSAFE");
  makeModel(snapshot);
  expect(requestedBaseModel("owner/name", models)).toEqual(found);
});

test.each(["lost", "nobody", "..", "/etc", "../elsewhere/known", "constructor", "__proto__"])("%s is not found", (name) => {
  const { models } = make();
  expect(() => locateBaseModel(name, models)).toThrow(ImprintError);
  expect(codeOf(() => requestedBaseModel(name, models))).toBe("BASE_MODEL_NOT_FOUND");
});

test("a folder in a root is taken, and goes by its name from then on", () => {
  const { root, models } = make();
  const roots = [join(root, "own")];
  const given = join(root, "own/folder-model");
  const known = { location: join(models.folder, "folder-model"), name: "folder-model" };
  expect(requestedBaseModel(given, { ...models, roots })).toEqual(known);
  expect(requestedBaseModel(`${given}/`, { ...models, roots })).toEqual(known);
  expect(requestedBaseModel("folder-model", models)).toEqual(known);
  expect(preparedModels(models)).toEqual(["known", "lost", "folder-model", "prepared"]);
});

test("a folder outside every root is refused alike, whether it is there or not", () => {
  const { root, models } = make();
  makeModel(join(root, "own-too/folder-model"));
  symlinkSync(join(root, "own-too/folder-model"), join(root, "own/way-out"));
  const roots = [join(root, "own")];
  const refusal = (path: string): string => {
    try {
      requestedBaseModel(join(root, path), { ...models, roots });
    } catch (error) {
      return error instanceof Error ? error.message.replace(/folder of \S+:/, "folder of X:") : "";
    }
    return "taken";
  };
  const outside = ["own-too/folder-model", "own-too/absent", "own/way-out", "own/../own-too/folder-model"].map(refusal);
  expect(new Set(outside).size).toBe(1);
  expect(outside[0]).toContain("model_roots");
  expect(outside[0]).not.toContain(root);
  expect(refusal("own/absent")).toBe("There is no folder absent.");
});

test.each([
  ["nothing", [], "BASE_MODEL_INVALID"],
  ["no weights", ["config.json"], "BASE_MODEL_INVALID"],
  ["no config.json", ["model.safetensors"], "BASE_MODEL_INVALID"],
  ["pickled weights alone", ["config.json", "pytorch_model.bin"], "BASE_MODEL_UNSAFE"],
])("a folder with %s is refused, by its path, as the default and under its name", (_what, files, code) => {
  const { root, models } = make();
  const folder = makeModel(join(root, "models/bad"), files);
  expect(codeOf(() => requestedBaseModel(folder, models))).toBe(code);
  expect(codeOf(() => requestedBaseModel("bad", models))).toBe(code);
  expect(codeOf(() => requestedBaseModel(undefined, { ...models, fallback: folder }))).toBe(code);
});

test("two folders of one name are told apart, unless the first is gone", () => {
  const { root, models } = make({ roots: ["/"] });
  makeModel(join(root, "second/folder-model"));
  requestedBaseModel(join(root, "own/folder-model"), models);
  expect(() => requestedBaseModel(join(root, "second/folder-model"), models)).toThrow(
    /Another base model is called folder-model/,
  );
  rmSync(join(root, "own/folder-model"), { recursive: true });
  expect(requestedBaseModel(join(root, "second/folder-model"), models).name).toBe("folder-model");
});
