import { createHeap } from "./heap.mjs";
import { createRandom } from "./random.mjs";

const DAY = 86_400;
const HOUR = 3_600;

/** When a session comes: Poisson, with a rate that is a sine over the day and greatest at noon. */
function* arrivals({ sessions, peak, days, random }) {
  const [mean, swing] = [sessions / DAY, Math.min(1, peak - 1)];
  const greatest = mean * (1 + swing);
  for (let at = random.exponential(1 / greatest); at < days * DAY; at += random.exponential(1 / greatest)) {
    const rate = mean * (1 - swing * Math.cos((2 * Math.PI * at) / DAY));
    if (random.uniform() * greatest < rate) yield at;
  }
}

/** Seconds that a job works on a card. */
function workOf(assumed, random) {
  if (random.uniform() < assumed["imprint-share"])
    return assumed["imprint-seconds"] / assumed["speed-up"] + assumed["start-seconds"];
  const steps = Math.max(1, Math.round(assumed["median-steps"] * Math.exp(assumed["steps-spread"] * random.normal())));
  return (steps * assumed["window-seconds"]) / assumed["speed-up"] + assumed["start-seconds"];
}

const quantile = (sorted, part) =>
  sorted.length === 0 ? 0 : sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];

/**
 * Sessions of some days on so many cards, first come, first served, through one control plane. A job that fails by itself is started once
 * more, at the end of the queue; one whose card fails goes on from its checkpoint, at the head of it. What is counted is the last day:
 * the one before fills the queue.
 */
export function simulate({ gpus, sessions, assumed, seed = 1, days = 2 }) {
  const random = createRandom(seed);
  const counted = (days - 1) * DAY;
  const events = createHeap();
  const coming = arrivals({ sessions, peak: assumed.peak, days, random });
  const ahead = [];
  const queue = [];
  let [first, free, busySeconds, finished, failed, cardFailures] = [0, gpus, 0, 0, 0, 0];
  const waits = [];
  let planeFreeAt = 0;
  let planeBusy = 0;

  const comesNext = () => {
    const { value: at, done } = coming.next();
    if (!done) events.push(at, { type: "arrive", at });
  };

  const start = (at, job) => {
    free -= 1;
    if (job.waited === undefined) {
      job.waited = at - job.arrived;
      if (job.arrived >= counted) waits.push(job.waited);
    }
    const cardLasts = random.exponential(assumed["gpu-mtbf-hours"] * HOUR);
    const ownFailure = !job.again && random.uniform() < assumed["failed-jobs"] ? job.left / 2 : Number.POSITIVE_INFINITY;
    const lasts = Math.min(job.left, cardLasts, ownFailure);
    // Of what is counted, the part that lies in the last day.
    busySeconds += Math.max(0, Math.min(at + lasts, days * DAY) - Math.max(at, counted));
    const end = lasts === job.left ? "done" : lasts === cardLasts ? "card failed" : "job failed";
    events.push(at + lasts, { type: end, job, lasts });
  };

  const pump = (at) => {
    while (free > 0 && (ahead.length > 0 || first < queue.length)) {
      const job = ahead.length > 0 ? ahead.shift() : queue[first++];
      start(at, job);
    }
    if (first > 100_000) {
      queue.splice(0, first);
      first = 0;
    }
  };

  const happens = {
    arrive: (at) => {
      comesNext();
      // The control plane takes one after the other.
      planeFreeAt = Math.max(planeFreeAt, at) + 1 / assumed["plane-jobs"];
      if (at >= counted) planeBusy += 1 / assumed["plane-jobs"];
      const work = workOf(assumed, random);
      events.push(planeFreeAt, { type: "queued", job: { arrived: at, work, left: work, again: false } });
    },
    queued: (_at, { job }) => queue.push(job),
    done: (at, { job }) => {
      free += 1;
      if (at >= counted) finished += 1;
      job.left = 0;
    },
    "job failed": (_at, { job }) => {
      free += 1;
      failed += 1;
      job.again = true;
      job.left = job.work;
      queue.push(job);
    },
    "card failed": (at, { job, lasts }) => {
      cardFailures += 1;
      const kept = Math.max(0, lasts - random.uniform() * assumed["checkpoint-seconds"]);
      job.left -= kept;
      ahead.push(job);
      events.push(at + assumed["repair-hours"] * HOUR, { type: "repaired" });
    },
    repaired: () => {
      free += 1;
    },
  };

  comesNext();
  while (events.size > 0) {
    const { at, value } = events.pop();
    if (at >= days * DAY) break;
    happens[value.type](at, value);
    pump(at);
  }

  const waiting = queue.length - first + ahead.length;
  const sorted = Float64Array.from(waits).sort();
  return {
    gpus,
    sessions,
    adapters: finished,
    waiting,
    /** More comes than is done: queue times say how long the day was, and nothing else. */
    overloaded: waiting > 0.02 * sessions,
    queue_seconds: {
      mean: sorted.reduce((sum, wait) => sum + wait, 0) / Math.max(1, sorted.length),
      median: quantile(sorted, 0.5),
      p95: quantile(sorted, 0.95),
    },
    utilisation: busySeconds / (gpus * DAY),
    dollars_per_adapter: finished === 0 ? null : (gpus * 24 * assumed["gpu-hour"]) / finished,
    control_plane: planeBusy / DAY,
    failed_jobs: failed,
    card_failures: cardFailures,
  };
}

/** Seconds that a card works for a session, on the average: what it costs where no card waits. */
export function meanWork(assumed, { seed = 1, draws = 100_000 } = {}) {
  const random = createRandom(seed);
  let sum = 0;
  for (let at = 0; at < draws; at += 1) sum += workOf(assumed, random);
  return (sum / draws) * (1 + assumed["failed-jobs"] / 2);
}
