import { type JobDetails, verdictOf } from "@imprint/contracts";

/** A job's status; of one whose adapter was kept although it harms, that too. */
export function Status({ job: { status, proof } }: { readonly job: JobDetails }) {
  const isHarmful = status === "completed" && proof !== null && verdictOf(proof) === "harms";
  return (
    <span className="status" data-status={isHarmful ? "harmful" : status}>
      {isHarmful ? "completed, harmful" : status}
    </span>
  );
}
