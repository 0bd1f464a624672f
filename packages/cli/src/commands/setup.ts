import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { findRepoRoot } from "@imprint/server/configuration";
import { Command } from "commander";
import type { CommandContext } from "../context.js";
import { COMMANDS } from "./names.js";

/** A command that is a program of its own, since a clone runs it before anything is built. */
const programCommand = ({ io, state }: CommandContext, name: "setup" | "demo"): Command =>
  new Command(name)
    .description(COMMANDS.find((one) => one.name === name)?.description ?? "")
    .action(async (options: Readonly<Record<string, boolean>>) => {
      const args = [...(options.llamaCpp === false ? ["--no-llama-cpp"] : []), ...(options.ray ? ["--ray"] : [])];
      const ignore = io.onInterrupt(() => {}); // a terminal's Ctrl-C reaches the program too, which cleans up
      try {
        const child = spawn(process.execPath, [path.join(findRepoRoot(), "scripts", `${name}.mjs`), ...args], {
          stdio: "inherit",
        });
        const [code] = await once(child, "close");
        state.exitCode = code ?? 1;
      } finally {
        ignore();
      }
    });

export const setupCommand = (context: CommandContext): Command =>
  programCommand(context, "setup")
    .option("--no-llama-cpp", "without llama.cpp: the trainer answers chats")
    .option("--ray", "also what a Ray head of this machine needs");

export const demoCommand = (context: CommandContext): Command => programCommand(context, "demo");
