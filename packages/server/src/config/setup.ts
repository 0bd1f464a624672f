import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Strict } from "@imprint/contracts";
import { matches } from "@imprint/contracts/fields";
import { type Static, Type } from "typebox";

/** What `imprint setup` prepared, written to `.imprint/setup.json` of the checkout. */
export const Setup = Strict({
  python: Type.String({ minLength: 1 }),
  pip: Type.Optional(Type.String({ minLength: 1, description: "A Python that has pip: models come out of packages" })),
  default_model: Type.String({ minLength: 1 }),
  models: Type.Record(Type.String(), Type.String(), { description: "Name of a prepared base model -> its folder" }),
});
export type Setup = Static<typeof Setup>;

/** The checkout that this file is part of: the nearest folder above that holds the trainer. */
export const findRepoRoot = (from: string = dirname(fileURLToPath(import.meta.url))): string => {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, "trainer", "pyproject.toml"))) return folder;
    if (dirname(folder) === folder) return from;
  }
};

/** Null when setup has not run, or left something that this Imprint cannot use. */
export const readSetup = (repoRoot: string): Setup | null => {
  try {
    const setup: unknown = JSON.parse(readFileSync(join(repoRoot, ".imprint", "setup.json"), "utf8"));
    return matches(Setup, setup) ? setup : null;
  } catch {
    return null;
  }
};
