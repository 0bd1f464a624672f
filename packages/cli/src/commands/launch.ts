import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ApiError, type Imprint, NotFoundError } from "@imprint/client";
import { servedText } from "@imprint/contracts";
import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { UsageError } from "../errors.js";
import { knownModel } from "../ids/model.js";
import { AGENTS, type Agent, agentOf, HUB, type Settings, settingsFor, writeFiles } from "../launch/agents.js";
import { runAgent } from "../launch/run-agent.js";
import { plain, shellWord } from "../output/text.js";
import { runningService } from "../service/connect.js";

interface LaunchOptions extends CommonOptions {
  readonly record?: boolean;
  readonly print?: boolean;
}

/** What clients send where the service wants no token: they refuse to ask without one. */
const NO_TOKEN = "none";

/** What is set, as a shell's words, for people to read. */
function shown({ program }: Agent, { args, env, files }: Settings, folder: string): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${shellWord(value)}`);
  const written = Object.entries(files).map(([name, text]) => `# ${path.join(folder, name)}:\n${text.trimEnd()}\n`);
  return plain([...written, ...variables, [program, ...args].map(shellWord).join(" ")].join("\n"));
}

/** What answers gets the adapter before the agent asks; that it does not apply it is said, and this machine answers. */
async function handOver(client: Imprint, model: string, note: (text: string) => void): Promise<void> {
  try {
    const { served } = await client.adapters.serve(model);
    if (served !== null) note(`served by ${servedText(served)}`);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error instanceof NotFoundError) return; // a base model
    note(`${error.code}: ${error.message} This machine answers instead.`);
  }
}

export function launchCommand(context: CommandContext): Command {
  return newCommand({
    name: "launch",
    examples: [
      "launch opencode gates-v1",
      'launch codex gates-v1 --record -- exec "Fix the failing test"',
      "launch claude latest --print",
    ],
  })
    .argument("<agent>", Object.keys(AGENTS).join(", "))
    .argument("<adapter>", "id of an adapter, the beginning of it, latest, or the name of a base model")
    .argument("[args...]", "behind --: the agent's own arguments")
    .option("--record", "keep the conversations as sessions")
    .option("--print", "show what would be set, and start nothing")
    .action(async (name: string, given: string, own: readonly string[], options: LaunchOptions) => {
      const { io, state } = context;
      if (options.json === true && options.print !== true)
        throw new UsageError("--json goes with --print: an agent has the screen to itself");
      const printer = printerOf(context, options);
      const agent = agentOf(name, "<agent>");
      const { client, url, token } = await runningService({ io, options });
      const { id: model, context: known } = await knownModel(given, { client, note: printer.note });
      const base = `${url.replace(/\/$/, "")}${options.record === true ? `/record/${agent.name}` : ""}`;
      const settingsIn = (folder: string, key: string): Settings => {
        const { args, ...settings } = settingsFor(agent, { base, token: key, model, context: known, folder });
        return { ...settings, args: [...args, ...own] };
      };
      if (options.print === true) {
        const settings = settingsIn("TEMPORARY", token === null ? NO_TOKEN : "THE SERVICE'S TOKEN");
        return printer.result({ program: agent.program, ...settings }, () => shown(agent, settings, "TEMPORARY"));
      }
      await handOver(client, model, printer.note);
      const folder = await mkdtemp(path.join(tmpdir(), "imprint-launch-"));
      try {
        const settings = settingsIn(folder, token ?? NO_TOKEN);
        await writeFiles(folder, settings);
        state.exitCode = await runAgent(agent, { args: settings.args, env: { ...io.env, ...settings.env } });
      } finally {
        // The hub that Cline's terminal starts would outlive it: there it says which process it is.
        const hub = readFile(path.join(folder, HUB), "utf8");
        await hub.then((text) => process.kill(JSON.parse(text).pid)).catch(() => undefined);
        await rm(folder, { recursive: true, force: true });
      }
    });
}
