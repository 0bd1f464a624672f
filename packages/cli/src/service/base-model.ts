import { existsSync } from "node:fs";
import { parse } from "node:path";
import { asFolder } from "@imprint/server/configuration";
import type { ServiceOptions } from "../context.js";
import { UsageError } from "../errors.js";
import { isGguf } from "../files/gguf-stores.js";
import { configFor } from "./connect.js";

/**
 * How the service is told of `--base-model`. A folder of this machine is linked into the data directory, which is this user's own, and
 * goes by its name; a service at `--url` may be elsewhere, and is told the path. Throws a UsageError for a folder that holds no base model.
 */
export async function namedBaseModel(
  given: string | undefined,
  options: ServiceOptions,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  if (given !== undefined && isGguf(given) && existsSync(given))
    throw new UsageError(
      `--base-model ${given}: a GGUF file. imprint models add ${given} makes a base model of it, and says its name.`,
    );
  const folder = given === undefined ? null : asFolder(given);
  if (folder === null) return given;
  if (options.url !== undefined) return folder;
  const { baseModelsOf, dataPaths, ensureDataPaths, ImprintError, requestedBaseModel } = await import("@imprint/server/stored");
  const config = configFor(options, env);
  ensureDataPaths(dataPaths(config.settings.data_dir));
  try {
    return requestedBaseModel(folder, { ...baseModelsOf(config, env), roots: [parse(folder).root] }).name;
  } catch (error) {
    throw error instanceof ImprintError ? new UsageError(`--base-model ${given}: ${error.message}\n${error.hint}`) : error;
  }
}
