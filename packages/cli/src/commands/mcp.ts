import { VERSION } from "@imprint/contracts";
import type { Command } from "commander";
import { type CommandContext, newCommand, type ServiceOptions } from "../context.js";
import { runningService } from "../service/connect.js";

interface McpOptions extends ServiceOptions {
  readonly allowTraining?: boolean;
}

/** Speaks the Model Context Protocol on standard input and output until its end. */
export function mcpCommand({ io }: CommandContext): Command {
  return newCommand({ name: "mcp", examples: ["mcp", "mcp --allow-training"] })
    .option("--allow-training", "agents may start trainings and evaluations too")
    .action(async ({ allowTraining = false, ...options }: McpOptions) => {
      const [{ fromJsonSchema, McpServer }, { serveStdio }, { explain }, { TOOLS }] = await Promise.all([
        import("@modelcontextprotocol/server"),
        import("@modelcontextprotocol/server/stdio"),
        import("../explain.js"),
        import("../mcp/tools.js"),
      ]);
      const offered = TOOLS.filter(({ readOnly }) => readOnly || allowTraining);
      const serving = serveStdio(() => {
        const server = new McpServer({ name: "imprint", version: VERSION });
        for (const { name, description, schema, readOnly, call } of offered) {
          const about = { description, inputSchema: fromJsonSchema(schema), annotations: { readOnlyHint: readOnly } };
          server.registerTool(name, about, async (given) => {
            try {
              // The service may start and stop while an agent runs.
              const { client } = await runningService({ io, options });
              return { content: [{ type: "text", text: JSON.stringify(await call(client, given as never)) }] };
            } catch (error) {
              return { isError: true, content: [{ type: "text", text: explain(error, io.name).lines.join("\n") }] };
            }
          });
        }
        return server;
      });
      await new Promise<void>((ended) => {
        const release = io.onInterrupt(() => ended());
        io.input.once("end", () => ended());
        io.input.once("close", () => {
          release();
          ended();
        });
      });
      await serving.close();
    });
}
