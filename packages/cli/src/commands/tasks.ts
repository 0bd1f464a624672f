import { Command } from "commander";
import type { CommandContext } from "../context.js";
import { makeCommand } from "../tasks/make/command.js";
import { COMMANDS } from "./names.js";

export const tasksCommand = (context: CommandContext): Command =>
  new Command("tasks")
    .description(COMMANDS.find(({ name }) => name === "tasks")?.description ?? "")
    .addCommand(makeCommand(context));
