import type { Curve, JobDetails, JobEvent, JobsEvent, Progress } from "@imprint/contracts";

const MOST_POINTS = 4_000;

/** The curve with one more step, or unchanged for a step that it has. A long one loses every second of its older points. */
export function addStep(curve: Curve, progress: Progress): Curve {
  const last = curve.at(-1);
  if (last && progress.step <= last.step) return curve;
  const kept = curve.length < MOST_POINTS ? curve : curve.filter((_, at) => at % 2 === 0);
  return [...kept, progress];
}

/** What the events of one job have told so far. */
export interface JobState {
  readonly job: JobDetails | null;
  readonly curve: Curve;
  readonly log: string;
}

export const NO_JOB: JobState = { job: null, curve: [], log: "" };

/** Characters of a log that are kept: its end says most. */
const LONGEST_LOG = 200_000;

export function applyJobEvent(state: JobState, event: JobEvent): JobState {
  switch (event.type) {
    case "snapshot":
      return { job: event.job, curve: event.curve, log: event.log };
    case "status":
      return { ...state, job: event.job };
    case "progress": {
      const { progress } = event;
      return { ...state, job: state.job && { ...state.job, progress }, curve: addStep(state.curve, progress) };
    }
    case "log":
      return { ...state, log: (state.log + event.text).slice(-LONGEST_LOG) };
    case "resync":
      return state;
  }
}

const newestFirst = (jobs: readonly JobDetails[]): readonly JobDetails[] =>
  jobs.toSorted((one, other) => (one.job_id < other.job_id ? 1 : -1));

/** Who leaves the queue moves those behind it up: the service tells only of the job that left. */
function moveUp(jobs: readonly JobDetails[], changed: JobDetails): readonly JobDetails[] {
  const left = jobs.find(({ job_id }) => job_id === changed.job_id)?.queue_position ?? null;
  if (left === null || changed.queue_position !== null) return jobs;
  return jobs.map((job) => {
    const { queue_position: position } = job;
    return position !== null && position > left ? { ...job, queue_position: position - 1 } : job;
  });
}

/** The jobs after an event, newest first: their ids sort by time. */
export function applyJobsEvent(jobs: readonly JobDetails[], event: JobsEvent): readonly JobDetails[] {
  switch (event.type) {
    case "snapshot":
      return newestFirst(event.jobs);
    case "status":
      return newestFirst([event.job, ...moveUp(jobs, event.job).filter(({ job_id }) => job_id !== event.job.job_id)]);
    case "progress":
      return jobs.map((job) => (job.job_id === event.job_id ? { ...job, progress: event.progress } : job));
    case "resync":
      return jobs;
  }
}
