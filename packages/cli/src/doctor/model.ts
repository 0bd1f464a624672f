import { readdir } from "node:fs/promises";
import path from "node:path";
import { type Finding, missing, ok } from "./check.js";

/** Whether the base model is a folder that holds a model. A hub id can only be tried. */
export async function checkModel({
  baseModel,
  folders,
}: {
  baseModel: string;
  /** Where the model may be, best first. */
  folders: readonly string[];
}): Promise<Finding> {
  for (const folder of folders) {
    const names: readonly string[] = await readdir(folder).catch(() => []);
    if (names.includes("config.json") && names.some((name) => name.endsWith(".safetensors"))) {
      return ok("base model", `${baseModel} in ${path.resolve(folder)}`);
    }
  }
  return missing(
    "base model",
    `${baseModel} is not prepared`,
    "imprint setup prepares the default one; --base-model names another.",
  );
}
