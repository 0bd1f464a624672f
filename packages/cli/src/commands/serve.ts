import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { loadConfig, Settings } from "@imprint/server/configuration";
import type { Command } from "commander";
import { type CommandContext, newCommand } from "../context.js";
import { CommandError } from "../errors.js";
import { optionOf, type Properties, readFlags } from "../flags/from-schema.js";
import { fields } from "../output/table.js";
import { discover } from "../service/discover.js";

const SETTINGS: Properties = Settings.properties;

/** Runs the service until Ctrl-C. Every setting of the service is a flag. */
export function serveCommand({ io }: CommandContext): Command {
  const command = newCommand({
    name: "serve",
    examples: ["serve", "serve --port 8080 --data-dir ./imprint-data", "serve --base-model ./models/my-model --slots 2"],
    service: "none",
  });
  for (const [name, schema] of Object.entries(SETTINGS)) command.addOption(optionOf(name, schema));
  return command.action(async ({ json, ...options }: Record<string, unknown>) => {
    const config = loadConfig({ flags: readFlags(SETTINGS, options), env: io.env });
    const { data_dir, base_model } = config.settings;
    const running = await discover({ dataDir: data_dir, token: config.token });
    if (running !== null) throw new CommandError(`A service already runs on ${data_dir}: ${running.url}`);
    for (const warning of config.warnings) io.err.write(`${io.paint.err("yellow", `! ${warning}`)}\n`);
    const { python } = config.settings;
    if (python === null || (isAbsolute(python) && !existsSync(python)))
      io.err.write(
        `${io.paint.err("yellow", "! Nothing can be trained: there is no Python for the trainer. imprint setup installs it.")}\n`,
      );
    const onListening = ({ url }: { readonly url: string }): void => {
      if (json === true) return void io.out.write(`${JSON.stringify({ url, data_dir, base_model })}\n`);
      const entries = [
        ["dashboard and API", url],
        ["API documentation", `${url}/docs`],
        ["data directory", data_dir],
        ["base model", base_model],
      ] as const;
      io.out.write(`${io.paint.out("bold", "Imprint is running.")} Ctrl-C stops it.\n${fields(entries, io.paint.out)}\n`);
    };
    const { runServer } = await import("@imprint/server");
    await runServer(config, { onListening });
  });
}
