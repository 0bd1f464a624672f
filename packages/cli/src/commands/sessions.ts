import type { SessionSummary } from "@imprint/contracts";
import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { type PageOptions, pageOptions, pageQuery } from "../flags/page.js";
import { table } from "../output/table.js";
import { shorten, taskOf } from "../output/text.js";
import { withService } from "../service/connect.js";

/** The day on which its last message was said; of one that does not say it nothing, and it stands where it was imported. */
const recordedOn = ({ ended_at, started_at }: SessionSummary): string => (ended_at ?? started_at ?? "").slice(0, 10);

/** What wrote it; what is the service's own is not trained on unless it is named. */
const modelOf = ({ model = "", own }: SessionSummary): string => (own === true ? `${model} (own)`.trim() : model);

export function sessionsCommand(context: CommandContext): Command {
  return pageOptions(
    newCommand({
      name: "sessions",
      examples: ["sessions", "sessions billing-api", "sessions codex failure", "sessions --json"],
    }).argument(
      "[word...]",
      "only sessions that have all of these in their id, repository, folder, branch, model, format, outcome or task",
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
          recordedOn(session),
          session.repository ?? "",
          session.branch ?? "",
          modelOf(session),
          session.format,
          session.outcome,
          String(session.assistant_turns),
          String(session.tool_calls),
          shorten(taskOf(session), 60),
        ]);
        return table(
          ["SESSION", "RECORDED", "REPOSITORY", "BRANCH", "MODEL", "FORMAT", "OUTCOME", "TURNS", "CALLS", "TASK"],
          rows,
          context.io.paint.out,
        );
      });
      if (page.next !== null) printer.note(`More: --after ${page.next}`);
    });
  });
}
