import { endingOf, type SessionSummary } from "@imprint/contracts";
import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { type PageOptions, pageOptions, pageQuery } from "../flags/page.js";
import type { Paint } from "../output/paint.js";
import { fields, table } from "../output/table.js";
import { plain, shorten, taskOf } from "../output/text.js";
import { withService } from "../service/connect.js";
import { askRepository } from "../sessions/repository.js";

/** The day on which its last message was said; of one that does not say it nothing, and it stands where it was imported. */
const recordedOn = ({ ended_at, started_at }: SessionSummary): string => (ended_at ?? started_at ?? "").slice(0, 10);

/** What wrote it; what is the service's own is not trained on unless it is named. */
const modelOf = ({ model = "", own }: SessionSummary): string => (own === true ? `${model} (own)`.trim() : model);

/** By what a session is judged. */
function evidenceText({ outcome, judged }: SessionSummary, paint: Paint): string {
  if (judged === undefined) return "Nothing in it shows how it ended: imprint label says it.";
  const said = outcome === "unknown" ? [] : [["said", outcome] as const];
  return fields([...said, ...judged.evidence.map(({ kind, what }) => [kind.replaceAll("_", " "), plain(what)] as const)], paint);
}

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
      const { sessions, next } = await client.sessions.list(query);
      const isOne = search !== "" && sessions.length === 1 && next === null;
      const page = { sessions: isOne ? await Promise.all(sessions.map(askRepository)) : sessions, next };
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
          endingOf(session),
          String(session.assistant_turns),
          String(session.tool_calls),
          shorten(taskOf(session), 60),
        ]);
        const listed = table(
          ["SESSION", "RECORDED", "REPOSITORY", "BRANCH", "MODEL", "FORMAT", "OUTCOME", "TURNS", "CALLS", "TASK"],
          rows,
          context.io.paint.out,
        );
        const evidence = isOne ? page.sessions.map((one) => evidenceText(one, context.io.paint.out)) : [];
        return [listed, ...evidence].join("\n\n");
      });
      if (page.next !== null) printer.note(`More: --after ${page.next}`);
    });
  });
}
