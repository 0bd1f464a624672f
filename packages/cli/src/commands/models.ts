import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { table } from "../output/table.js";
import { withService } from "../service/connect.js";

export function modelsCommand(context: CommandContext): Command {
  return newCommand({ name: "models", examples: ["models"] }).action(async (options: CommonOptions) => {
    const printer = printerOf(context, options);
    await withService({ io: context.io, options, note: printer.note }, async ({ client }) => {
      const { data } = await client.models.list();
      printer.result({ models: data }, () => {
        if (data.length === 0) return "No models. npm run setup prepares the default one.";
        const rows = data.map(({ id, owned_by }) => [id, owned_by]);
        return table(["MODEL", "FROM"], rows, context.io.paint.out);
      });
    });
  });
}
