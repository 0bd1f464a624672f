import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { projectsText } from "../output/project.js";
import { withService } from "../service/connect.js";

export function projectsCommand(context: CommandContext): Command {
  return newCommand({ name: "projects", examples: ["projects", "projects --json"] }).action(async (options: CommonOptions) => {
    const { io } = context;
    const printer = printerOf(context, options);
    await withService({ io, options, note: printer.note }, async ({ client }) => {
      const found = await client.projects.list();
      printer.result(found, () =>
        found.projects.length === 0
          ? `No projects. ${io.name} project NAME --from FOLDER makes one.`
          : projectsText(found.projects, io.paint.out),
      );
    });
  });
}
