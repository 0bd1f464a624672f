import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { type PageOptions, pageOptions, pageQuery } from "../flags/page.js";
import { table } from "../output/table.js";
import { shorten, taskOf } from "../output/text.js";
import { withService } from "../service/connect.js";

export function sessionsCommand(context: CommandContext): Command {
  return pageOptions(
    newCommand({ name: "sessions", examples: ["sessions", "sessions codex failure", "sessions --json"] }).argument(
      "[word...]",
      "only sessions that have all of these in their id, format, outcome or task",
    ),
  ).action(async (words: readonly string[], options: CommonOptions & PageOptions) => {
    const printer = printerOf(context, options);
    const search = words.join(" ");
    const query = { ...pageQuery(options), ...(search !== "" && { search }) };
    await withService({ io: context.io, options, note: printer.note }, async ({ client }) => {
      const page = await client.sessions.list(query);
      printer.result(page, () => {
        if (page.sessions.length === 0)
          return search === ""
            ? `No sessions. ${context.io.name} import PATH stores some.`
            : `No session has the words ${search}.`;
        const rows = page.sessions.map((session) => [
          session.session_id,
          session.format,
          session.outcome,
          String(session.assistant_turns),
          String(session.tool_calls),
          shorten(taskOf(session), 60),
        ]);
        return table(["SESSION", "FORMAT", "OUTCOME", "TURNS", "CALLS", "TASK"], rows, context.io.paint.out);
      });
      if (page.next !== null) printer.note(`More: --after ${page.next}`);
    });
  });
}
