import type { Outcome } from "@imprint/contracts";
import { Argument, type Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { fullId } from "../ids/full-id.js";
import { withService } from "../service/connect.js";

export function labelCommand(context: CommandContext): Command {
  return newCommand({
    name: "label",
    examples: ["label harborline-gates success", "label 29ccd257-68b1-427f-ae5f-6524b7cb6f20 failure"],
  })
    .argument("<session>", "id of the session, the beginning of it, or latest")
    .addArgument(new Argument("<outcome>", "how it ended").choices(["success", "failure", "unknown"]))
    .action(async (given: string, outcome: Outcome, options: CommonOptions) => {
      const printer = printerOf(context, options);
      await withService({ io: context.io, options, note: printer.note }, async ({ client }) => {
        const sessionId = await fullId(given, { kind: "session", client, note: printer.note });
        const session = await client.sessions.label(sessionId, outcome);
        printer.result(session, () => `Session ${session.session_id}: ${session.outcome}.`);
      });
    });
}
