import { type Adapter, conditionOf, type JobList, type SessionSummary } from "@imprint/contracts";
import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { agentFolders } from "../files/agent-folders.js";
import { walk } from "../files/walk.js";
import { VERDICTS } from "../output/evaluation.js";
import { leftLines } from "../output/left.js";
import { waitingFor } from "../output/printer.js";
import { fields } from "../output/table.js";
import { count, plain } from "../output/text.js";
import { type Surveyed, survey } from "../project/survey.js";
import { withService } from "../service/connect.js";

/** Of what agents recorded, the newest files are looked into. */
const NEWEST = 500;

/** By repository, what agents recorded since a time. */
async function recordedSince(time: number, env: NodeJS.ProcessEnv): Promise<readonly Surveyed[]> {
  const places = await agentFolders(env, async () => true);
  if (places.length === 0) return [];
  const { candidates } = await walk(places);
  const fresh = candidates.filter(({ modified }) => modified > time).sort((a, b) => b.modified - a.modified);
  return survey(fresh.slice(0, NEWEST));
}

const wordsOf = (adapter: Adapter): string => {
  const condition = conditionOf(adapter);
  const verdict = adapter.evaluation === null ? "not evaluated" : VERDICTS[adapter.evaluation.verdict];
  return `${adapter.adapter_id}, of ${count(adapter.session_ids.length, "session")}: ${condition === "ok" ? verdict : condition}`;
};

interface Found {
  readonly adapter: Adapter | undefined;
  readonly session: SessionSummary | undefined;
  readonly recorded: readonly Surveyed[];
  readonly counts: JobList["counts"];
}

/** The arguments of the command that goes on from here. */
function nextOf({ adapter, session, recorded, counts }: Found): string {
  if (counts.running + counts.queued > 0) return "job latest --watch";
  if (adapter === undefined) return recorded.length > 0 ? "start" : session === undefined ? "demo" : "train latest --watch";
  if (adapter.evaluation === null) return `evaluate ${adapter.adapter_id}`;
  return recorded.length > 0 ? "start" : `launch claude ${adapter.adapter_id}`;
}

export function statusCommand(context: CommandContext): Command {
  return newCommand({ name: "status", examples: ["status", "status --json"] }).action(async (options: CommonOptions) => {
    const { io } = context;
    const printer = printerOf(context, options);
    await withService({ io, options, note: () => undefined }, async ({ client, url, own }) => {
      const [jobs, adapters, sessions] = await Promise.all([
        client.jobs.list({ limit: 1 }),
        client.adapters.list({ limit: 1 }),
        client.sessions.list({ limit: 1 }),
      ]);
      const [adapter] = adapters.adapters;
      const [session] = sessions.sessions;
      const since = adapter === undefined ? 0 : Date.parse(adapter.created_at);
      const recorded = await waitingFor("looking through recordings", recordedSince(since, io.env), printer.note);
      const { counts, left } = jobs;
      const next = `${io.name} ${nextOf({ adapter, session, recorded, counts })}`;
      const service = own ? null : url;
      printer.result({ service, jobs: counts, left, newest: { adapter, session }, recorded, next }, () => {
        const news = recorded.map(({ name, recordings }) => `${name} (${recordings})`);
        const shown = fields(
          [
            ["service", service ?? `not running: ${io.name} serve starts it`],
            ["jobs", `${counts.running} running, ${counts.queued} queued, ${counts.failed} failed`],
            ["newest session", session === undefined ? "none" : plain(session.session_id)],
            ["newest adapter", adapter === undefined ? "none" : wordsOf(adapter)],
            [adapter === undefined ? "recorded" : "recorded since", news.length === 0 ? "nothing" : plain(news.join(", "))],
            ["next", next],
          ],
          io.paint.out,
        );
        return [shown, ...leftLines(left, io.name)].join("\n");
      });
    });
  });
}
