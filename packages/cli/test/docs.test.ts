import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
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

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const WORD = /'[^']*'|"[^"]*"|\S+/g;

const pages = readdirSync(`${ROOT}docs`).flatMap((name) => (name.endsWith(".md") ? [`docs/${name}`] : []));

/** Every line of the documents' blocks that a person would type, once, without variables, comments and marks of a choice. */
const typed = [
  ...new Set(
    ["README.md", ...pages].flatMap((name) => {
      const text = readFileSync(ROOT + name, "utf8");
      const blocks = [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].flatMap(([, language = "", block = ""]) =>
        language === "" || language === "sh" ? [block.replaceAll("\\\n", " ")] : [],
      );
      return blocks.flatMap((block) =>
        [...block.matchAll(/^(?:\w+=(?:\$\([^)]*\)|\S+) )*(?:npx )?imprint (.*)$/gm)].map(([, line = ""]) => line),
      );
    }),
  ),
].map((line) =>
  line
    .replace(/\s#.*$/, "")
    .replace(/<([\w-]+)(?:\.{3})?>/g, "$1")
    .trim(),
);

const withoutActions = (command: Command): void => {
  command.action(() => undefined);
  for (const one of command.commands) withoutActions(one);
};

it.each(typed)("imprint %s, in a document, is a command with its arguments and flags", async (line) => {
  const args = (line.match(WORD) ?? []).map((word) => word.replace(/^(['"])(.*)\1$/, "$2"));
  const program = await createProgram({ ...context, args });
  for (const command of program.commands) withoutActions(command);
  await program.parseAsync(args, { from: "user" });
});
