import type { Imprint } from "@imprint/client";
import { type Command, Option } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { CommandError, UsageError } from "../errors.js";
import { targetOf } from "../export/target.js";
import { DATASET_FORMATS, type DatasetFormat, type Dated, splitByTime, writeDataset } from "../export/write-dataset.js";
import { storedSessions } from "../ids/full-id.js";
import { count } from "../output/text.js";
import { withService } from "../service/connect.js";

interface ExportSessionsOptions extends CommonOptions {
  readonly format: DatasetFormat;
  readonly out: string;
  readonly test?: string;
  readonly force?: boolean;
}

const PAGE = 1000;
const TEST_SHARE = 0.1;

/** Throws a UsageError for what is no share, and where a format has no splits. */
function testShare(text: string | undefined, format: DatasetFormat): number {
  if (format !== "hub") {
    if (text !== undefined) throw new UsageError(`--test goes with --format hub, which has splits, not with ${format}`);
    return 0;
  }
  const share = text === undefined ? TEST_SHARE : Number(text);
  if (text?.trim() === "" || !(share >= 0 && share <= 0.5))
    throw new UsageError(`--test takes a share from 0 to 0.5 of the sessions, the newest ones, not "${text}"`);
  return share;
}

async function allSessions(client: Imprint): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page = await client.sessions.list({ limit: PAGE, ...(after !== undefined && { after }) });
    ids.push(...page.sessions.map(({ session_id }) => session_id));
    after = page.next;
  }
  return ids;
}

export function exportSessionsCommand(context: CommandContext): Command {
  return newCommand({
    name: "export-sessions",
    examples: [
      "export-sessions --format messages --out sessions.jsonl",
      "export-sessions --format hub --out ./sessions --test 0.2",
      "export-sessions harborline-gates --format atif --out ./trajectories",
    ],
  })
    .argument("[session...]", "ids of stored sessions, or the beginnings of them (default: all)")
    .addOption(
      new Option(
        "--format <messages|atif|hub>",
        "one file of messages and tools, a folder of ATIF trajectories, or a folder with a card and splits",
      )
        .choices([...DATASET_FORMATS])
        .makeOptionMandatory(),
    )
    .requiredOption("--out <path>", "file (messages) or folder to write")
    .option("--test <share>", `newest share of the sessions that is the test split of a hub's folder (default: ${TEST_SHARE})`)
    .option("--force", "overwrite what is there")
    .action(async (given: readonly string[], { format, out, test, force = false, ...options }: ExportSessionsOptions) => {
      const share = testShare(test, format);
      const target = targetOf({ out, file: format === "messages" ? "sessions.jsonl" : null, force });
      const printer = printerOf(context, options);
      await withService({ io: context.io, options, note: printer.note }, async ({ client }) => {
        const ids = given.length > 0 ? await storedSessions(given, { client, note: printer.note }) : await allSessions(client);
        if (ids.length === 0) throw new CommandError(`There are no sessions: ${context.io.name} import PATH stores some.`);
        const dated: Dated[] = [];
        for (const id of new Set(ids)) dated.push({ id, startedAt: (await client.sessions.content(id)).started_at });
        const splits = splitByTime(dated, share);
        const facts = await writeDataset({ format, splits, target, read: (id) => client.sessions.content(id) });
        printer.result({ format, path: target.path, ...facts }, () => {
          const rows = splits.map(({ name, sessions }) => `${sessions.length} ${splits.length > 1 ? `${name} ` : ""}`);
          const removed = facts.redactions.reduce((sum, one) => sum + one.count, 0);
          return [
            `${target.path}: ${rows.join("and ")}session${dated.length === 1 ? "" : "s"}, ${facts.learned} of ${count(facts.messages, "message")} to learn from`,
            `${count(removed, "secret")} removed when they were stored; a search finds only what looks like one: read what you publish.`,
          ].join("\n");
        });
      });
    });
}
