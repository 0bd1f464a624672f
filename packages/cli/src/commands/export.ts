import type { AdapterFile, ExportFormat } from "@imprint/contracts";
import { type Command, Option } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { CommandError } from "../errors.js";
import { fetchFiles } from "../export/fetch-files.js";
import { targetOf } from "../export/target.js";
import { fullId } from "../ids/full-id.js";
import { bytes, count } from "../output/text.js";
import { type Service, withService } from "../service/connect.js";
import { outcome } from "../watch/outcome.js";
import { watchJob } from "../watch/watch-job.js";

const FORMATS = ["gguf", "merged", "peft"] as const;

interface ExportOptions extends CommonOptions {
  readonly format: (typeof FORMATS)[number];
  readonly out: string;
  readonly force?: boolean;
}

export function exportCommand(context: CommandContext): Command {
  return newCommand({
    name: "export",
    description: "write an adapter as other programs load it: GGUF, merged model or PEFT folder",
    examples: [
      "export gates-v1 --format gguf --out gates-v1.gguf",
      "export gates-v1 --format merged --out ./gates-merged",
      "export gates-v1 --format peft --out ./adapters/gates-v1",
    ],
  })
    .argument("<id>", "id of the adapter, the beginning of it, or latest")
    .addOption(
      new Option("--format <gguf|merged|peft>", "gguf for llama.cpp, a merged model, or the folder for vLLM and PEFT")
        .choices([...FORMATS])
        .makeOptionMandatory(),
    )
    .requiredOption("--out <path>", "file (gguf) or folder to write")
    .option("--force", "overwrite what is there")
    .action(async (given: string, { format, out, force = false, ...options }: ExportOptions) => {
      const printer = printerOf(context, options);
      await withService({ io: context.io, options, note: printer.note }, async (service) => {
        const { client } = service;
        const adapterId = await fullId(given, { kind: "adapter", client, note: printer.note });
        const target = targetOf({ out, file: format === "gguf" ? `${adapterId}.gguf` : null, force });
        const exported = format === "peft" ? undefined : format;
        const files =
          exported === undefined
            ? await wholeFiles(service, adapterId)
            : await exportFiles({ context, service, adapterId, format: exported });
        await fetchFiles({ client, adapterId, format: exported, files, ...target });
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
  if (job.status !== "completed") throw new CommandError(outcome(job, io.paint.err, io.name), job.error?.code ?? null);
  return (await client.adapters.getExport(adapterId, format)).files;
}
