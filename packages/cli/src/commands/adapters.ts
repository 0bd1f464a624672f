import { change, conditionOf } from "@imprint/contracts";
import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { type PageOptions, pageOptions, pageQuery } from "../flags/page.js";
import { fullId } from "../ids/full-id.js";
import { VERDICTS } from "../output/evaluation.js";
import { table } from "../output/table.js";
import { bytes } from "../output/text.js";
import { withService } from "../service/connect.js";

interface AdaptersOptions extends CommonOptions, PageOptions {
  readonly baseModel?: string;
  readonly taskType?: string;
  readonly session?: string;
}

export function adaptersCommand(context: CommandContext): Command {
  return pageOptions(newCommand({ name: "adapters", examples: ["adapters", "adapters --session harborline-gates"] }))
    .option("--base-model <name>", "only adapters of this base model")
    .option("--task-type <type>", "only adapters of this task type")
    .option("--session <id>", "only adapters of this session")
    .action(async (options: AdaptersOptions) => {
      const printer = printerOf(context, options);
      const filter = {
        ...pageQuery(options),
        ...(options.baseModel !== undefined && { base_model: options.baseModel }),
        ...(options.taskType !== undefined && { task_type: options.taskType }),
      };
      await withService({ io: context.io, options, note: printer.note }, async ({ client }) => {
        const session_id = options.session && (await fullId(options.session, { kind: "session", client, note: printer.note }));
        const query = session_id === undefined ? filter : { ...filter, session_id };
        const page = await client.adapters.list(query);
        printer.result(page, () => {
          if (page.adapters.length === 0) return `No adapters. ${context.io.name} train SESSION makes one.`;
          const rows = page.adapters.map(
            ({
              adapter_id,
              method,
              base_model,
              session_id,
              session_ids,
              rank,
              size,
              proof,
              partial,
              evaluation,
              tasks,
              ...rest
            }) => [
              adapter_id,
              partial === null ? method : `${method}, partial`,
              base_model,
              session_ids.length === 1 ? session_id : `${session_id} +${session_ids.length - 1}`,
              String(rank),
              bytes(size),
              change(proof.loss_before, proof.loss_after),
              conditionOf(rest),
              tasks === null ? "" : `${tasks.solved} of ${tasks.of}`,
              evaluation === null ? "" : VERDICTS[evaluation.verdict],
            ],
          );
          return table(
            ["ADAPTER", "METHOD", "BASE MODEL", "SESSION", "RANK", "SIZE", "LOSS", "HEALTH", "TASKS", "EVALUATED"],
            rows,
            context.io.paint.out,
          );
        });
        if (page.next !== null) printer.note(`More: --after ${page.next}`);
      });
    });
}
