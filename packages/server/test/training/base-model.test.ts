import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ImprintError } from "../../src/common/error.js";
import { type BaseModels, fallbackName, locateBaseModel } from "../../src/training/base-model.js";
import { makeFolder } from "../support/service.js";

const make = (changes: Partial<BaseModels> = {}) => {
  const root = makeFolder();
  const folder = join(root, "models");
  for (const name of ["models/prepared", "elsewhere/known", "own/folder-model"]) mkdirSync(join(root, name), { recursive: true });
  const setup = {
    python: "python",
    default_model: "known",
    models: { known: join(root, "elsewhere/known"), lost: join(root, "gone") },
  };
  return { root, models: { fallback: "known", setup, folder, allowDownloads: false, ...changes } };
};

test("a model is found by its name: prepared by setup, in the data directory, or the configured folder", () => {
  const { root, models } = make();
  expect(locateBaseModel("known", models)).toEqual({ location: join(root, "elsewhere/known"), name: "known" });
  expect(locateBaseModel("prepared", models)).toEqual({ location: join(root, "models/prepared"), name: "prepared" });
  const own = { ...models, fallback: join(root, "own/folder-model") };
  expect(fallbackName(own)).toBe("folder-model");
  expect(locateBaseModel("folder-model", own).location).toBe(own.fallback);
});

test("a hub id is used only when downloads are allowed", () => {
  const { models } = make();
  expect(() => locateBaseModel("owner/name", models)).toThrow(/downloads are not allowed/);
  expect(locateBaseModel("owner/name", { ...models, allowDownloads: true })).toEqual({
    location: "owner/name",
    name: "owner/name",
  });
});

test.each(["lost", "nobody", "..", "/etc", "../elsewhere/known", "constructor", "__proto__"])("%s is not found", (name) => {
  const { models } = make();
  expect(() => locateBaseModel(name, models)).toThrow(ImprintError);
});
