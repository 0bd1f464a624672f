import type { JobDetails } from "@imprint/contracts";
import { AbortError } from "../errors.js";
import type { CallOptions, Runtime } from "../http/options.js";

export interface WaitOptions extends CallOptions {
  /** Called with each new version of the job that is seen, the last one included. */
  readonly onUpdate?: (job: JobDetails) => void;
  /** Milliseconds between two looks: the first, and the longest while nothing changes. Default: 200 and 2,000. */
  readonly pollMs?: { readonly first: number; readonly longest: number };
}

export const isFinished = (job: Pick<JobDetails, "status">): boolean => job.status !== "queued" && job.status !== "running";

/** Looks at a job until it is finished, less often while it does not change. */
export async function waitFor({
  jobId,
  details,
  runtime,
  options = {},
}: {
  jobId: string;
  details: (jobId: string, options?: CallOptions) => Promise<JobDetails>;
  runtime: Runtime;
  options?: WaitOptions | undefined;
}): Promise<JobDetails> {
  const { first, longest } = options.pollMs ?? { first: 200, longest: 2_000 };
  let seen = 0;
  for (let pause = first; ; pause = Math.min(longest, pause * 1.5)) {
    const job = await details(jobId, options);
    if (job.version > seen) {
      seen = job.version;
      pause = first;
      options.onUpdate?.(job);
    }
    if (isFinished(job)) return job;
    await runtime.sleep(pause, options.signal).catch((cause) => {
      throw new AbortError("Waiting for the job was aborted; the job itself goes on", { cause });
    });
  }
}
