import { execFileSync } from "node:child_process";
import { beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/commands/list.js";
import { bashCompletion } from "../../src/completion/bash.js";
import { type Described, describe as describeCommand } from "../../src/completion/describe.js";
import { fishCompletion } from "../../src/completion/fish.js";
import { zshCompletion } from "../../src/completion/zsh.js";
import { systemIo } from "../../src/io.js";

const context = { io: systemIo(), state: { exitCode: 0 } };
let commands: readonly Described[] = [];

beforeAll(async () => {
  commands = await Promise.all(COMMANDS.map(async ({ load }) => describeCommand((await load())(context))));
}, 120_000);

/** What bash offers for the last of the words. */
const offered = (...words: readonly string[]): readonly string[] => {
  const line = ["imprint", ...words].map((word) => `'${word}'`).join(" ");
  const script = `${bashCompletion(commands)}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length}; _imprint; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["-c", script], { encoding: "utf8", cwd: import.meta.dirname })
    .trim()
    .split("\n");
};

describe("bash", () => {
  it("completes commands, flags, values of flags and arguments", () => {
    expect(offered("")).toEqual([...COMMANDS.map(({ name }) => name), "--help", "--version"]);
    expect(offered("hyp")).toEqual(["hypernetworks"]);
    expect(offered("train", "--me")).toEqual(["--method", "--metadata"]);
    expect(offered("train", "--method", "")).toEqual(["lora", "hypernetwork"]);
    expect(offered("train", "s1", "--watch", "--lo")).toEqual(["--log"]);
    expect(offered("jobs", "--status", "c")).toEqual(["completed", "cancelled"]);
    expect(offered("completion", "")).toEqual(expect.arrayContaining(["bash", "zsh", "fish"]));
    expect(offered("hypernetworks", "c")).toEqual(["convert"]);
    expect(offered("hypernetworks", "convert", "--b")).toEqual(["--base"]);
    expect(offered("serve", "--webhook-s")).toEqual(["--webhook-secret", "--webhook-secret-file"]);
  });

  it("completes files where anything else is asked for", () => {
    expect(offered("import", "compl")).toEqual(["completion.test.ts"]);
    expect(offered("serve", "--token-file", "compl")).toEqual(["completion.test.ts"]);
  });
});

/** Every command and flag, as they are written. */
const names = (all: readonly Described[]): readonly string[] =>
  all.flatMap(({ name, flags, commands: inner }) => [name, ...flags.map((flag) => flag.name), ...names(inner)]);

it("every command and flag is known to zsh and fish", () => {
  const zsh = zshCompletion(commands);
  const fish = fishCompletion(commands);
  for (const name of new Set(names(commands))) {
    expect(zsh).toContain(name);
    expect(fish).toMatch(new RegExp(name.startsWith("--") ? `-l ${name.slice(2)} ` : `-a ${name} `));
  }
});

it("no description can break out of its quotes", () => {
  const nasty = "it's [a] `trap`: $(touch x) \\ 'end";
  const flags = [{ name: "--flag", description: nasty, takesValue: true, values: [] }];
  const command: Described = { name: "do", description: nasty, flags, values: [], commands: [] };
  const words = (script: string): string =>
    execFileSync("bash", ["-c", `show() { printf '%s\\n' "$@"; }\n${script}`], { encoding: "utf8" });

  const flagOfZsh = /^ *do\) _arguments (.*) ;;$/m.exec(zshCompletion([command]))?.[1];
  expect(words(`show ${flagOfZsh}`)).toBe(`--flag=[it's \\[a\\] \`trap\`\\: $(touch x) \\\\ 'end]:value:_files\n*:file:_files\n`);
  expect(fishCompletion([command])).toContain(`-d 'it\\'s [a] \`trap\`: $(touch x) \\\\ \\'end' -r`);
});
