import { isFinished } from "@imprint/client";
import type { JobDetails, TrainingPlan } from "@imprint/contracts";
import { useEffect, useMemo, useRef } from "react";
import { api } from "../api.js";
import { EvaluationReport } from "../evaluation/report.js";
import { Status } from "../jobs/jobs-page.js";
import { useJob } from "../live/use-job.js";
import { useQueuePosition } from "../live/use-queue-position.js";
import { Curves } from "../plot/curves.js";
import { hrefOf } from "../router/route.js";
import { Preview } from "../sessions/preview.js";
import { SweepCard } from "../sweep/sweep-card.js";
import { heldOutText } from "../text/held-out.js";
import { ago, count, short, title, words } from "../text/numbers.js";
import { plain } from "../text/plain.js";
import { Card } from "../ui/card.js";
import { ConnectionState } from "../ui/connection.js";
import { Facts } from "../ui/facts.js";
import { LeftOutAndChanged } from "../ui/left-out-and-changed.js";
import { Memory } from "../ui/memory.js";
import { Page, Remarks } from "../ui/page.js";
import { Problem } from "../ui/problem.js";
import { JobBar } from "../ui/progress-bar.js";
import { CancelButton } from "./cancel-button.js";
import { ProofCard } from "./proof-card.js";
import { previewRequestOf, sessionIdsOf } from "./request.js";

function PlanCard({ plan }: { readonly plan: TrainingPlan }) {
  return (
    <Card title="Plan">
      <Facts
        facts={[
          ["Windows", `${plan.windows} of at most ${count(plan.max_length, "token")}`],
          ["Tokens", `${plan.tokens.toLocaleString("en")}, ${plan.supervised_tokens.toLocaleString("en")} supervised`],
          ["Supervised turns", plan.supervised_turns],
          ["Steps", `at most ${plan.max_steps.toLocaleString("en")}, ${count(plan.accumulation, "window")} each`],
          ["Epochs", plan.epochs ?? "until the loss stops improving"],
          ["Learning rate", short(plan.learning_rate)],
          ["Rank, alpha", `${plan.rank}, ${plan.alpha}`],
          ["Quantisation", plan.quantization],
          ["Seed", <code key="seed">{plan.seed}</code>],
          ["Layers", plan.target_modules.join(", ")],
          ["Held out", heldOutText(plan.held_out)],
        ]}
      />
      <Remarks remarks={plan.remarks} />
      <Memory memory={plan.memory} />
      <LeftOutAndChanged counts={plan} />
    </Card>
  );
}

const NEAR_END_PX = 24;

/** The trainer's log as text; follows its end while that is in view. */
function Log({ log }: { readonly log: string }) {
  const text = useMemo(() => plain(log), [log]);
  const box = useRef<HTMLPreElement>(null);
  const isFollowing = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new text is what moves the end.
  useEffect(() => {
    if (box.current && isFollowing.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  const look = (): void => {
    const element = box.current;
    if (element) isFollowing.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX;
  };
  return (
    <Card title="Log">
      {text === "" ? (
        <p className="muted">The trainer has said nothing yet.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable with the keyboard (WCAG 2.1.1).
        <pre ref={box} className="log" tabIndex={0} onScroll={look}>
          {text}
        </pre>
      )}
    </Card>
  );
}

const SHOWN_ELSEWHERE: ReadonlySet<string> = new Set(["session_id", "session_ids", "adapter_id", "base_model", "metadata"]);

function Summary({ job }: { readonly job: JobDetails }) {
  const position = useQueuePosition(job);
  const metadata = Object.entries((job.request.metadata ?? {}) as Readonly<Record<string, string>>);
  return (
    <Facts
      isWide
      facts={[
        ["Method", job.kind],
        ["Base model", String(job.request.base_model ?? "")],
        [
          "Sessions",
          <span key="sessions" className="chips">
            {sessionIdsOf(job.request).map((id) => (
              <a key={id} className="mono" href={hrefOf(["sessions", id])}>
                {id}
              </a>
            ))}
          </span>,
        ],
        ["Created", ago(job.created_at, Date.now())],
        ["In the queue", position === null ? null : `position ${position}`],
        ["Phase", job.status === "running" && job.phase !== null ? words(job.phase) : null],
        ["Metadata", metadata.map(([name, value]) => `${name}: ${value}`).join("\n")],
      ]}
    />
  );
}

function Outcome({ job }: { readonly job: JobDetails }) {
  return (
    <>
      {job.error && (
        <Card title="Why it failed" tone="bad">
          <p className="verdict">{job.error.message}</p>
          <p>{job.error.hint}</p>
          <p className="muted mono">{job.error.code}</p>
        </Card>
      )}
      {job.proof && <ProofCard proof={job.proof} />}
      {job.result && "verdict" in job.result && <EvaluationReport result={job.result} />}
      {job.result && "trials" in job.result && <SweepCard sweep={job.result} />}
    </>
  );
}

function ResolvedRequest({ job }: { readonly job: JobDetails }) {
  const rest = Object.entries(job.request).filter(([name, value]) => !SHOWN_ELSEWHERE.has(name) && value !== null);
  return (
    <Card title="Request as resolved">
      <Facts
        facts={rest.map(([name, value]) => [title(name), typeof value === "string" ? value : JSON.stringify(value)] as const)}
      />
    </Card>
  );
}

const titleOf = ({ job_id, kind, request: { adapter_id: id, base_model } }: JobDetails): string =>
  kind === "pull" ? `Pull of ${base_model}` : typeof id !== "string" ? job_id : kind === "evaluate" ? `Evaluation of ${id}` : id;

/** One job, live: curves, log, plan and proof. */
export function JobPage({ jobId }: { readonly jobId: string }) {
  const { job, curve, log, connection, refused } = useJob(jobId);
  const title = job ? titleOf(job) : jobId;
  const actions = job && (
    <>
      {!isFinished(job) && !refused && <ConnectionState connection={connection} />}
      <Status job={job} />
      {job.adapter_id !== null && (
        <>
          <a className="button" href={hrefOf(["adapters", job.adapter_id])}>
            Adapter
          </a>
          <a className="button primary" href={hrefOf(["playground"], { adapter: job.adapter_id })}>
            Try it
          </a>
        </>
      )}
      {!isFinished(job) && !refused && <CancelButton job={job} />}
    </>
  );
  return (
    <Page title={title} actions={actions}>
      <Problem error={refused} />
      {!job && !refused && <ConnectionState connection={connection} />}
      {job && (
        <>
          <Summary job={job} />
          {job.status === "running" && <JobBar job={job} label="Progress" />}
          {job.warnings.map((warning) => (
            <p key={warning} className="notice">
              {warning}
            </p>
          ))}
          <Outcome job={job} />
          {(job.kind === "lora" || curve.length > 0) && <Curves curve={curve} />}
          <div className="columns">
            {job.plan && <PlanCard plan={job.plan} />}
            <ResolvedRequest job={job} />
          </div>
          <Log log={log} />
          {job.kind === "lora" && (
            <Preview
              id={`job ${jobId}`}
              button="Show what it learns"
              load={(options, window) =>
                api.train.preview({ ...previewRequestOf(job.request), ...(window ? { window } : {}) }, options)
              }
            />
          )}
        </>
      )}
    </Page>
  );
}
