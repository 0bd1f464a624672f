import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { findRepoRoot } from "@imprint/server/configuration";
import { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import type { Io } from "../io.js";
import { configFor } from "../service/connect.js";
import { COMMANDS } from "./names.js";

/** Runs a program of its own, which a clone runs too before anything is built. Resolves with its exit code. */
async function runProgram(io: Io, name: "setup" | "demo", args: readonly string[], out: "inherit" | NodeJS.WriteStream) {
  const ignore = io.onInterrupt(() => {}); // a terminal's Ctrl-C reaches the program too, which cleans up
  try {
    const script = path.join(findRepoRoot(), "scripts", `${name}.mjs`);
    const child = spawn(process.execPath, [script, ...args], { stdio: ["inherit", out, "inherit"] });
    const [code] = await once(child, "close");
    return Number(code ?? 1);
  } finally {
    ignore();
  }
}

const argumentsOf = (options: Readonly<Record<string, boolean>>): readonly string[] => [
  ...(options.llamaCpp === false ? ["--no-llama-cpp"] : []),
  ...(options.ray ? ["--ray"] : []),
];

const programCommand = ({ io, state }: CommandContext, name: "setup" | "demo"): Command =>
  new Command(name)
    .description(COMMANDS.find((one) => one.name === name)?.description ?? "")
    .action(async (options: Readonly<Record<string, boolean>>) => {
      state.exitCode = await runProgram(io, name, argumentsOf(options), "inherit");
    });

const WITHOUT_LLAMA_CPP = ["--no-llama-cpp", "without llama.cpp: the trainer answers chats"] as const;

export const setupCommand = (context: CommandContext): Command =>
  programCommand(context, "setup")
    .option(...WITHOUT_LLAMA_CPP)
    .option("--ray", "also what a Ray head of this machine needs");

export const demoCommand = (context: CommandContext): Command => programCommand(context, "demo");

/** What a newer Imprint needs of this machine and of its data directory: set up, and changed with a copy kept. */
export const upgradeCommand = (context: CommandContext): Command =>
  newCommand({ name: "upgrade", examples: ["upgrade"], service: "data directory" })
    .option(...WITHOUT_LLAMA_CPP)
    .action(async (options: CommonOptions & Readonly<Record<string, boolean>>) => {
      const { io, state } = context;
      const { data_dir } = configFor(options, io.env).settings;
      const { openStorage } = await import("@imprint/server");
      // Held to the end: a service works with what is set up, and is refused before any of it changes.
      const { older, close } = openStorage(data_dir);
      try {
        printerOf(context, options).result({ data_dir, older }, () =>
          older === null
            ? `${data_dir} is of this version.`
            : `${data_dir} is of this version now. To go back to the one before, put ${older} in the place of registry.db.`,
        );
        state.exitCode = await runProgram(io, "setup", argumentsOf(options), process.stderr);
      } finally {
        await close();
      }
    });
