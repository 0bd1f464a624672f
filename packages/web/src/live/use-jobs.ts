import type { JobCounts, JobDetails, JobStatus } from "@imprint/contracts";
import { useEffect, useRef, useState } from "react";
import { api } from "../api.js";
import { type Connection, followEvents } from "./follow.js";
import { applyJobsEvent } from "./job-state.js";

interface LiveJobs {
  /** Newest first; null until the service told. */
  readonly jobs: readonly JobDetails[] | null;
  readonly connection: Connection;
}

/** The newest jobs, and those that run, as they happen. */
export function useJobs(): LiveJobs {
  const [state, setState] = useState<LiveJobs>({ jobs: null, connection: "connecting" });
  useEffect(
    () =>
      followEvents({
        open: api.jobs.watch,
        onEvent: (event) => setState((before) => ({ ...before, jobs: applyJobsEvent(before.jobs ?? [], event) })),
        onConnection: (connection) => setState((before) => ({ ...before, connection })),
        onRefused: () => setState((before) => ({ ...before, connection: "lost" })),
      }),
    [],
  );
  return state;
}

interface PagedJobs {
  /** Of all jobs that the service remembers; null until it told. */
  readonly counts: JobCounts | null;
  /** The jobs of the pages that were asked for, newest first. */
  readonly jobs: readonly JobDetails[];
  /** Asks for the next page; null where there is none. */
  readonly more: (() => void) | null;
}

/** What the service knows beyond the newest jobs: how many there are, and the others page by page, those of one status where one is given. */
export function usePagedJobs(status: JobStatus | undefined, { jobs: live, connection }: LiveJobs): PagedJobs {
  const [counts, setCounts] = useState<JobCounts | null>(null);
  const [pages, setPages] = useState<Pick<PagedJobs, "jobs"> & { readonly next: string | null }>({ jobs: [], next: null });
  const shown = useRef(0); // only answers to what is asked now count

  const ask = async (after?: string): Promise<void> => {
    const asked = shown.current;
    const page = await api.jobs.list({ ...(status && { status }), ...(after && { after }), limit: 100 });
    const details = await Promise.all(
      page.jobs.map(async ({ job_id }) => {
        const known = live?.find((job) => job.job_id === job_id);
        return known ?? api.jobs.details(job_id).catch(() => null); // forgotten meanwhile
      }),
    );
    if (asked !== shown.current) return;
    setCounts(page.counts);
    const found = details.filter((job) => job !== null);
    setPages((before) => ({ jobs: after === undefined ? found : [...before.jobs, ...found], next: page.next }));
  };
  const quietly = (asking: Promise<unknown>): void => void asking.catch(() => undefined); // the connection's state says it

  const statuses = live?.map((job) => `${job.job_id} ${job.status}`).join();
  const isLive = live !== null && connection === "open";
  // biome-ignore lint/correctness/useExhaustiveDependencies: the pages begin anew with another status, and with each connection: the service may have been restarted
  useEffect(() => {
    if (!isLive) return;
    shown.current += 1;
    setPages({ jobs: [], next: null });
    quietly(ask());
  }, [status, isLive]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the counts change with what is live
  useEffect(() => {
    if (isLive) quietly(api.jobs.list({ limit: 1 }).then((page) => setCounts(page.counts)));
  }, [statuses]);

  const { jobs, next } = pages;
  return { counts, jobs, more: next === null ? null : () => quietly(ask(next)) };
}
