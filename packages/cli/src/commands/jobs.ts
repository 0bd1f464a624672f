import { JOB_STATUSES, type JobCounts, type JobStatus, type ListedJob } from "@imprint/contracts";
import { type Command, Option } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { type PageOptions, pageOptions, pageQuery } from "../flags/page.js";
import { leftLines } from "../output/left.js";
import type { Printer } from "../output/printer.js";
import { table } from "../output/table.js";
import { count } from "../output/text.js";
import { inCommandWords } from "../output/wording.js";
import { runningService, withService } from "../service/connect.js";

/** The adapter, or the id that it will have. */
const adapterOf = ({ adapter_id, reserved_adapter_id }: ListedJob): string =>
  adapter_id ?? (reserved_adapter_id === null ? "" : `${reserved_adapter_id} (reserved)`);

/** How many jobs there are, whatever the page shows. */
const total = (counts: JobCounts): string => {
  const all = JOB_STATUSES.reduce((sum, status) => sum + counts[status], 0);
  const parts = JOB_STATUSES.filter((status) => counts[status] > 0).map((status) => `${counts[status]} ${status}`);
  return `${count(all, "job")} in all: ${parts.join(", ")}.`;
};

async function resubmit({ io, state }: CommandContext, printer: Printer, options: CommonOptions): Promise<void> {
  const { client, url } = await runningService({ io, options });
  const done = await client.jobs.resubmit();
  if (done.refused.length > 0) state.exitCode = 1;
  printer.result(done, () =>
    [
      `${count(done.jobs.length, "job")} started again at ${url}.`,
      ...done.refused.map(({ kind, reason }) => `Not started, of kind ${kind}: ${inCommandWords(reason, io.name)}`),
      ...(done.kept > 0 ? [`${count(done.kept, "job")} found no place and stays kept: ${io.name} jobs --resubmit`] : []),
    ].join("\n"),
  );
}

export function jobsCommand(context: CommandContext): Command {
  return pageOptions(newCommand({ name: "jobs", examples: ["jobs", "jobs --status running --json", "jobs --resubmit"] }))
    .addOption(new Option("--status <status>", "only jobs of this status").choices(JOB_STATUSES))
    .option("--resubmit", "start the jobs again that waited when the service stopped")
    .action(async (options: CommonOptions & PageOptions & { status?: JobStatus; resubmit?: boolean }) => {
      const printer = printerOf(context, options);
      if (options.resubmit) return resubmit(context, printer, options);
      const query = { ...pageQuery(options), ...(options.status && { status: options.status }) };
      await withService({ io: context.io, options, note: printer.note }, async ({ client }) => {
        const page = await client.jobs.list(query);
        printer.result(page, () => {
          if (page.jobs.length === 0)
            return `No jobs. Jobs are forgotten when the service stops; adapters stay: ${context.io.name} adapters`;
          const rows = page.jobs.map((job) => [job.job_id, job.status, adapterOf(job), job.error ?? ""]);
          return table(["JOB", "STATUS", "ADAPTER", "ERROR"], rows, context.io.paint.out);
        });
        if (page.jobs.length > 0) printer.note(total(page.counts));
        const { name } = context.io;
        for (const line of leftLines(page.left, name)) printer.note(line);
        if (page.next !== null) printer.note(`More: --after ${page.next}`);
      });
    });
}
