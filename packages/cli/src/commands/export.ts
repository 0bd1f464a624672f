import type { AdapterFile, ExportFormat } from "@imprint/contracts";
import { type Command, Option } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { CommandError, UsageError } from "../errors.js";
import { exportBase } from "../export/base.js";
import { fetchFiles } from "../export/fetch-files.js";
import { targetOf } from "../export/target.js";
import { fullId } from "../ids/full-id.js";
import { unpainted } from "../output/paint.js";
import { waitingFor } from "../output/printer.js";
import { bytes, count } from "../output/text.js";
import { type Service, withService } from "../service/connect.js";
import { outcome } from "../watch/outcome.js";
import { watchJob } from "../watch/watch-job.js";

const FORMATS = ["gguf", "merged", "peft"] as const;

interface ExportOptions extends CommonOptions {
  readonly format: (typeof FORMATS)[number];
  readonly out?: string;
  readonly force?: boolean;
  readonly base?: string | true;
  readonly quantization: "nf4" | "none";
}

export function exportCommand(context: CommandContext): Command {
  return newCommand({
    name: "export",
    examples: [
      "export gates-v1 --format gguf --out gates-v1.gguf",
      "export gates-v1 --format merged --out ./gates-merged",
      "export gates-v1 --format peft --out ./adapters/gates-v1",
      "export --format gguf --base",
    ],
  })
    .argument("[id]", "id of the adapter, the beginning of it, or latest")
    .addOption(
      new Option("--format <gguf|merged|peft>", "gguf for llama.cpp, a merged model, or the folder for vLLM and PEFT")
        .choices([...FORMATS])
        .makeOptionMandatory(),
    )
    .option("--out <path>", "file (gguf) or folder to write; of a base model: where the service looks for it")
    .option("--base [model]", "instead of an adapter a base model, the default one where none is named; gguf alone")
    .addOption(
      new Option("--quantization <nf4|none>", "with --base: the weights that trainings with nf4 compute with, or the model's own")
        .choices(["nf4", "none"])
        .default("nf4"),
    )
    .option("--force", "overwrite what is there")
    .action(async (given: string | undefined, { format, out, force = false, base, quantization, ...options }: ExportOptions) => {
      const printer = printerOf(context, options);
      if (base !== undefined) {
        if (format !== "gguf") throw new UsageError("--base is written as --format gguf alone");
        if (given !== undefined) throw new UsageError("name an adapter, or --base MODEL: both together are not written");
        return exportBase({ context, printer, options, base, quantization, out, force });
      }
      if (given === undefined) throw new UsageError("name an adapter, or a base model with --base");
      if (out === undefined) throw new UsageError("--out says where the adapter's files go");
      await withService({ io: context.io, options, note: printer.note }, async (service) => {
        const { client } = service;
        const adapterId = await fullId(given, { kind: "adapter", client, note: printer.note });
        const target = targetOf({ out, file: format === "gguf" ? `${adapterId}.gguf` : null, force });
        const exported = format === "peft" ? undefined : format;
        const files =
          exported === undefined
            ? await wholeFiles(service, adapterId)
            : await exportFiles({ context, service, adapterId, format: exported });
        const fetching = fetchFiles({ client, adapterId, format: exported, files, ...target });
        await waitingFor(`writing ${target.path}`, fetching, printer.note);
        const size = files.reduce((sum, file) => sum + file.size, 0);
        printer.result({ adapter_id: adapterId, format, path: target.path, files }, () => {
          return `${target.path}: ${count(files.length, "file")}, ${bytes(size)}`;
        });
      });
    });
}

/** The adapter's own files, hashed again. */
export async function wholeFiles({ client }: Pick<Service, "client">, adapterId: string): Promise<readonly AdapterFile[]> {
  const { health, files } = await client.adapters.verify(adapterId);
  if (health === "ok") return files;
  throw new CommandError(`The files of the adapter ${adapterId} are ${health}: train it again.`, "ADAPTER_INVALID");
}

/** The files of an export, once its job has made them. */
async function exportFiles({
  context: { io },
  service: { client, own },
  adapterId,
  format,
}: {
  context: CommandContext;
  service: Service;
  adapterId: string;
  format: ExportFormat;
}): Promise<readonly AdapterFile[]> {
  const { job_id } = await client.adapters.export(adapterId, format);
  const job = await watchJob({ io, client, jobId: job_id, own });
  if (job === null) throw new CommandError(`Stopped waiting for the export; imprint job ${job_id} shows it.`);
  if (job.status !== "completed") throw new CommandError(outcome(job, unpainted, io.name), job.error?.code ?? null);
  return (await client.adapters.getExport(adapterId, format)).files;
}
