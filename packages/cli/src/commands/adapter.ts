import path from "node:path";
import { conditionOf, servedText } from "@imprint/contracts";
import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { fullId } from "../ids/full-id.js";
import { verdictLine } from "../output/evaluation.js";
import { proofLines } from "../output/proof.js";
import { fields } from "../output/table.js";
import { tasksLine } from "../output/tasks.js";
import { bytes, count } from "../output/text.js";
import { configFor, withService } from "../service/connect.js";

export function adapterCommand(context: CommandContext): Command {
  return newCommand({ name: "adapter", examples: ["adapter gates-v1", "adapter gates-v1 --verify"] })
    .argument("<id>", "id of the adapter, the beginning of it, or latest")
    .option("--verify", "hash its files again and read their headers")
    .action(async (given: string, options: CommonOptions & { verify?: boolean }) => {
      const printer = printerOf(context, options);
      await withService({ io: context.io, options, note: printer.note }, async ({ client }) => {
        const adapterId = await fullId(given, { kind: "adapter", client, note: printer.note });
        const adapter = await (options.verify ? client.adapters.verify(adapterId) : client.adapters.get(adapterId));
        if (options.verify && adapter.health !== "ok") context.state.exitCode = 1;
        const paint = context.io.paint.out;
        const condition = conditionOf(adapter);
        // The address of a service says nothing about where its data directory is.
        const root = options.url === undefined ? configFor(options, context.io.env).settings.data_dir : "";
        printer.result(adapter, () =>
          [
            fields(
              [
                ["adapter", paint("bold", adapter.adapter_id)],
                ["folder", path.join(root, adapter.path)],
                ["files", `${count(adapter.files.length, "file")}, ${bytes(adapter.size)}`],
                [
                  "health",
                  paint(condition === "ok" ? "green" : "red", condition === "harmful" ? "harmful; its files are ok" : condition),
                ],
                ["base model", adapter.base_model],
                ["method", `${adapter.method}, rank ${adapter.rank}, alpha ${adapter.alpha}`],
                ...(adapter.partial === null
                  ? []
                  : [
                      [
                        "partial",
                        paint("yellow", `salvaged after ${adapter.partial.step} of at most ${adapter.partial.max_steps} steps`),
                      ] as const,
                    ]),
                ["sessions", adapter.session_ids.join(", ")],
                ["task type", adapter.task_type],
                ...(adapter.served === null
                  ? []
                  : [
                      [
                        "served by",
                        paint(
                          adapter.served.applied ? "green" : "red",
                          `${servedText(adapter.served)}, measured ${adapter.served.measured_at}`,
                        ),
                      ] as const,
                    ]),
                ["created", adapter.created_at],
                ["sha256", adapter.sha256],
              ],
              paint,
            ),
            ...(adapter.tasks === null ? [] : [tasksLine(adapter.tasks, paint)]),
            ...proofLines(adapter.proof, paint),
            ...(adapter.evaluation === null ? [] : [verdictLine(adapter.evaluation, paint)]),
          ].join("\n"),
        );
      });
    });
}
