import { JOB_STATUSES, type JobCounts, type JobStatus, type ListedJob } from "@imprint/contracts";
import { type Command, Option } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { type PageOptions, pageOptions, pageQuery } from "../flags/page.js";
import { table } from "../output/table.js";
import { count } from "../output/text.js";
import { withService } from "../service/connect.js";

/** The adapter, or the id that it will have. */
const adapterOf = ({ adapter_id, reserved_adapter_id }: ListedJob): string =>
  adapter_id ?? (reserved_adapter_id === null ? "" : `${reserved_adapter_id} (reserved)`);

/** How many jobs there are, whatever the page shows. */
const total = (counts: JobCounts): string => {
  const all = JOB_STATUSES.reduce((sum, status) => sum + counts[status], 0);
  const parts = JOB_STATUSES.filter((status) => counts[status] > 0).map((status) => `${counts[status]} ${status}`);
  return `${count(all, "job")} in all: ${parts.join(", ")}.`;
};

export function jobsCommand(context: CommandContext): Command {
  return pageOptions(
    newCommand({ name: "jobs", description: "list the jobs, newest first", examples: ["jobs", "jobs --status running --json"] }),
  )
    .addOption(new Option("--status <status>", "only jobs of this status").choices(JOB_STATUSES))
    .action(async (options: CommonOptions & PageOptions & { status?: JobStatus }) => {
      const printer = printerOf(context, options);
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
        if (page.next !== null) printer.note(`More: --after ${page.next}`);
      });
    });
}
