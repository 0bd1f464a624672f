import { isFinished } from "@imprint/client";
import { JOB_STATUSES, type JobDetails, type JobStatus, verdictOf } from "@imprint/contracts";
import { CancelButton } from "../job/cancel-button.js";
import { sessionIdsOf } from "../job/request.js";
import { useJobs, usePagedJobs } from "../live/use-jobs.js";
import { hrefOf } from "../router/route.js";
import { ago, short, words } from "../text/numbers.js";
import { ConnectionState } from "../ui/connection.js";
import { Page } from "../ui/page.js";
import { JobBar } from "../ui/progress-bar.js";
import { Table } from "../ui/table.js";

function Whereabouts({ job }: { readonly job: JobDetails }) {
  if (job.status === "queued")
    return <>{job.queue_position === null ? "waits" : `position ${job.queue_position} in the queue`}</>;
  if (job.status === "running" && (job.measuring || (job.progress && job.phase === "training")))
    return <JobBar job={job} label={`Progress of ${job.job_id}`} />;
  if (job.status === "running") return <>{words(job.phase ?? "starting")}</>;
  if (job.error) return <span className="clip">{job.error.message}</span>;
  if (job.result && "verdict" in job.result) return <>{words(job.result.verdict)}</>;
  return <>{job.progress && `${job.progress.step} steps, loss ${short(job.progress.loss)}`}</>;
}

function JobRow({ job }: { readonly job: JobDetails }) {
  const sessions = sessionIdsOf(job.request);
  return (
    <tr>
      <td>
        <a className="mono" href={hrefOf(["jobs", job.job_id])}>
          {String(job.request.adapter_id ?? (job.kind === "pull" ? job.request.base_model : job.job_id))}
        </a>
        <div className="muted">
          {sessions[0] === undefined ? job.kind : `${job.kind} · ${sessions[0]}`}
          {sessions.length > 1 && ` and ${sessions.length - 1} more`}
        </div>
      </td>
      <td>
        <Status job={job} />
      </td>
      <td>
        <Whereabouts job={job} />
      </td>
      <td className="muted nowrap">
        <time dateTime={job.created_at}>{ago(job.created_at, Date.now())}</time>
      </td>
      <td className="end">{!isFinished(job) && <CancelButton job={job} />}</td>
    </tr>
  );
}

const isStatus = (word: string | undefined): word is JobStatus => JOB_STATUSES.some((status) => status === word);

/** All jobs, newest first: the newest live, the older ones page by page. */
export function JobsPage({ status }: { readonly status: string | undefined }) {
  const now = useJobs();
  const older = usePagedJobs(isStatus(status) ? status : undefined, now);
  const { jobs, connection } = now;
  const { counts } = older;
  const live = new Set(jobs?.map(({ job_id }) => job_id));
  const shown =
    jobs &&
    [...jobs, ...older.jobs.filter(({ job_id }) => !live.has(job_id))]
      .filter((job) => status === undefined || job.status === status)
      .toSorted((one, other) => (one.job_id < other.job_id ? 1 : -1));
  return (
    <Page
      title="Jobs"
      actions={
        <>
          <ConnectionState connection={connection} />
          <a className="button primary" href={hrefOf(["train"])}>
            New training
          </a>
        </>
      }
    >
      <nav className="filters" aria-label="Filter by status">
        {[undefined, ...JOB_STATUSES].map((one) => (
          <a key={one ?? "all"} href={hrefOf(["jobs"], { status: one })} aria-current={one === status ? "true" : undefined}>
            {one ?? "all"}{" "}
            <span>
              {counts && (one === undefined ? Object.values(counts).reduce((sum, count) => sum + count, 0) : counts[one])}
            </span>
          </a>
        ))}
      </nav>
      {shown && shown.length > 0 && (
        <Table label="Jobs" head={["Adapter", "Status", "Progress", "Created", "Actions"]}>
          {shown.map((job) => (
            <JobRow key={job.job_id} job={job} />
          ))}
        </Table>
      )}
      {older.more && (
        <button type="button" onClick={older.more}>
          Older jobs
        </button>
      )}
      {shown?.length === 0 && (
        <p className="empty">
          {status === undefined
            ? "No jobs yet. Import a session, then start a training. Jobs live in memory: a restart of the service forgets them."
            : `No job is ${status}.`}
        </p>
      )}
    </Page>
  );
}

/** A job's status; of one whose adapter was kept although it harms, that too. */
export function Status({ job: { status, proof } }: { readonly job: JobDetails }) {
  const isHarmful = status === "completed" && proof !== null && verdictOf(proof) === "harms";
  return (
    <span className="status" data-status={isHarmful ? "harmful" : status}>
      {isHarmful ? "completed, harmful" : status}
    </span>
  );
}
