import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { expect, it } from "vitest";
import { COMMANDS, type CommandName } from "../src/commands/names.js";
import { systemIo } from "../src/io.js";
import { createProgram } from "../src/program.js";

const context = { io: systemIo(), state: { exitCode: 0 }, run: async () => 0 };

const named = (program: Command, name: string): Command | undefined =>
  program.commands.find((command) => command.name() === name);

it("docs/cli.md lists every command as its help does", async () => {
  const guide = await readFile(new URL("../../../docs/cli.md", import.meta.url), "utf8");
  const documented = guide.match(/^\| `imprint .*$/gm);
  const commands = COMMANDS.map(({ name, args, description }: CommandName) => {
    return `| \`imprint ${name}${args === undefined ? "" : ` ${args}`}\` | ${description} |`;
  });
  expect(documented).toEqual(commands);
});

it.each(COMMANDS.map(({ name }) => name))("the list of commands says of %s what its own help says", async (name) => {
  const [listed, loaded] = await Promise.all(
    [[], [name]].map(async (args) => {
      const program = await createProgram({ ...context, args });
      const command = named(program, name);
      return command && [program.createHelp().subcommandTerm(command), command.description()];
    }),
  );
  expect(loaded).toBeDefined();
  expect(loaded).toEqual(listed);
});
