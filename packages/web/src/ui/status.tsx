import type { JobStatus } from "@imprint/contracts";

export function Status({ status }: { readonly status: JobStatus }) {
  return (
    <span className="status" data-status={status}>
      {status}
    </span>
  );
}
