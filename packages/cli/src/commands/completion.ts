import { Argument, type Command } from "commander";
import { bashCompletion } from "../completion/bash.js";
import { describe } from "../completion/describe.js";
import { fishCompletion } from "../completion/fish.js";
import { zshCompletion } from "../completion/zsh.js";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import type { Entry } from "./entry.js";

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export function completionCommand(context: CommandContext, entries: readonly Entry[]): Command {
  return newCommand({
    name: "completion",
    description: "print what makes a shell complete commands and flags: bash, zsh or fish",
    examples: ["completion bash >> ~/.bash_completion", "completion fish > ~/.config/fish/completions/imprint.fish"],
    service: "none",
  })
    .addArgument(new Argument("<shell>", "the shell that completes").choices(Object.keys(SHELLS)))
    .action(async (shell: keyof typeof SHELLS, options: CommonOptions) => {
      const commands = await Promise.all(entries.map(async ({ load }) => describe((await load())(context))));
      const script = SHELLS[shell](commands);
      printerOf(context, options).result({ shell, script }, () => script);
    });
}
