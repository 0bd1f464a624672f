import type { JobDetails } from "@imprint/contracts";
import { useCallback } from "react";
import { api } from "../api.js";
import { useAction } from "../load/use-action.js";
import { Problem } from "../ui/problem.js";

export function CancelButton({ job: { job_id: jobId, cancel_requested: isRequested } }: { readonly job: JobDetails }) {
  const { run, isBusy, error } = useAction(useCallback(() => api.jobs.cancel(jobId), [jobId]));
  return (
    <>
      <button type="button" className="danger" disabled={isBusy || isRequested} onClick={() => void run()}>
        {isRequested ? "Cancelling…" : "Cancel"}
      </button>
      <Problem error={error} />
    </>
  );
}
