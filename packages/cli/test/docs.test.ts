import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { systemIo } from "../src/io.js";
import { createProgram } from "../src/program.js";

it("docs/cli.md lists every command as its help does", async () => {
  const guide = await readFile(new URL("../../../docs/cli.md", import.meta.url), "utf8");
  const documented = guide.match(/^\| `imprint .*$/gm);
  const commands = createProgram(systemIo(), { exitCode: 0 }).commands.map((command) => {
    const [argument] = command.registeredArguments;
    const usage = argument === undefined ? "" : ` <${argument.name()}${argument.variadic ? "..." : ""}>`;
    return `| \`imprint ${command.name()}${usage}\` | ${command.description()} |`;
  });
  expect(documented).toEqual(commands);
});
