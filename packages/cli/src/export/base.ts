import { existsSync, statSync } from "node:fs";
import type { CommandContext, CommonOptions } from "../context.js";
import { CommandError, UsageError } from "../errors.js";
import { type Printer, waitingFor } from "../output/printer.js";
import { bytes } from "../output/text.js";
import { configFor } from "../service/connect.js";
import { showTrainer } from "../service/trainer.js";
import { targetOf } from "./target.js";

interface BaseExport {
  readonly context: CommandContext;
  readonly printer: Printer;
  readonly options: CommonOptions;
  /** A name, a hub id or a folder; true: the default base model. */
  readonly base: string | true;
  readonly quantization: "nf4" | "none";
  readonly out: string | undefined;
  readonly force: boolean;
}

/**
 * A base model as the file that llama.cpp serves, with the weights that trainings compute with. Without `out` where the service's engine looks for it:
 * made once, and again when the model changes.
 */
export async function exportBase({ context, printer, options, base, quantization, out, force }: BaseExport): Promise<void> {
  const { baseGguf, baseModelsOf, dataPaths, ensureDataPaths, ImprintError, requestedBaseModel } = await import(
    "@imprint/server/stored"
  );
  const { env } = context.io;
  const config = configFor(options, env);
  const paths = dataPaths(config.settings.data_dir);
  ensureDataPaths(paths);
  const { location, name } = ((): ReturnType<typeof requestedBaseModel> => {
    try {
      return requestedBaseModel(base === true ? undefined : base, baseModelsOf(config, env));
    } catch (error) {
      throw error instanceof ImprintError ? new UsageError(`--base ${base}: ${error.message}\n${error.hint}`) : error;
    }
  })();
  const own = await baseGguf(paths, location, quantization);
  const path = out === undefined ? own : targetOf({ out, file: `${name}.gguf`, force }).path;
  const isThere = out === undefined && !force && existsSync(path);
  if (!isThere) {
    const args = ["gguf", "--base", location, "--quantization", quantization, "--out", path];
    const code = await waitingFor(`writing ${path}`, showTrainer(config, "imprint_trainer", args), printer.note);
    if (code !== 0)
      throw new CommandError(`The base model ${name} could not be written: what was said stands above.`, "EXPORT_UNSUPPORTED");
  }
  const { size } = statSync(path);
  printer.result({ base_model: name, format: "gguf", quantization, path, size, made: !isThere }, () => {
    return `${path}: ${bytes(size)}${isThere ? ", made before" : ""}`;
  });
}
