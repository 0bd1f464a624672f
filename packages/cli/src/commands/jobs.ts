import { JOB_STATUSES, type JobStatus, type ListedJob } from "@imprint/contracts";
import { type Command, Option } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { type PageOptions, pageOptions, pageQuery } from "../flags/page.js";
import { table } from "../output/table.js";
import { withService } from "../service/connect.js";

/** The adapter, or the id that it will have. */
const adapterOf = ({ adapter_id, reserved_adapter_id }: ListedJob): string =>
  adapter_id ?? (reserved_adapter_id === null ? "" : `${reserved_adapter_id} (reserved)`);

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
        if (page.next !== null) printer.note(`More: --after ${page.next}`);
      });
    });
}
