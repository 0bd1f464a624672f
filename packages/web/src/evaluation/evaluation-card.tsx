import { isFinished } from "@imprint/client";
import type { Adapter, JobDetails } from "@imprint/contracts";
import { useEffect } from "react";
import { EvaluationChip } from "../adapters/chips.js";
import { CancelButton } from "../job/cancel-button.js";
import { useJobs } from "../live/use-jobs.js";
import { hrefOf } from "../router/route.js";
import { ago, words } from "../text/numbers.js";
import { EVALUATION_TONES } from "../text/verdict.js";
import { Card } from "../ui/card.js";
import { MeasuringBar } from "../ui/progress-bar.js";
import { EvaluateForm } from "./evaluate-form.js";

/** The newest evaluation of an adapter that the service remembers, live. */
function useEvaluation(adapterId: string): JobDetails | undefined {
  const { jobs } = useJobs();
  return jobs?.find(({ kind, request }) => kind === "evaluate" && request.adapter_id === adapterId);
}

function Running({ job }: { readonly job: JobDetails }) {
  return (
    <div className="actions">
      <a href={hrefOf(["jobs", job.job_id])}>{job.status === "queued" ? "Waits in the queue" : "Being evaluated"}</a>
      {job.measuring ? (
        <MeasuringBar measuring={job.measuring} label="Progress of the evaluation" />
      ) : (
        job.phase !== null && <span className="muted">{words(job.phase)}</span>
      )}
      <CancelButton job={job} />
    </div>
  );
}

function Summary({ adapter: { adapter_id: id, evaluation } }: { readonly adapter: Adapter }) {
  if (evaluation === null)
    return <p>Never evaluated: its proof says what it learned, not whether it helps on sessions that it has not seen.</p>;
  return (
    <>
      <p className="verdict">{evaluation.sentence}</p>
      <p className="muted">
        Evaluated {ago(evaluation.created_at, Date.now())}.{" "}
        <a href={hrefOf(["adapters", id, "evaluation"])}>The whole evaluation</a>
      </p>
    </>
  );
}

interface EvaluationCardProps {
  readonly adapter: Adapter;
  /** Sessions that its training held out as a whole. */
  readonly heldOut: readonly string[];
  /** The adapter has a new evaluation. */
  readonly onEvaluated: () => void;
}

/** Whether an adapter helps on sessions that it has not seen, and the way to find out. */
export function EvaluationCard({ adapter, heldOut, onEvaluated }: EvaluationCardProps) {
  const job = useEvaluation(adapter.adapter_id);
  const isRunning = job !== undefined && !isFinished(job);
  const finished = job?.status === "completed" ? job.job_id : null;
  useEffect(() => {
    if (finished !== null) onEvaluated();
  }, [finished, onEvaluated]);
  return (
    <Card
      title="Does it help on other sessions?"
      tone={adapter.evaluation ? EVALUATION_TONES[adapter.evaluation.verdict] : undefined}
      actions={<EvaluationChip evaluation={adapter.evaluation} />}
    >
      <Summary adapter={adapter} />
      {isRunning && <Running job={job} />}
      {job?.error && (
        <p className="problem" role="alert">
          The last evaluation failed: {job.error.message} {job.error.hint}
        </p>
      )}
      <EvaluateForm adapter={adapter} heldOut={heldOut} isBusy={isRunning} />
    </Card>
  );
}
