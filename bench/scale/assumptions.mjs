/**
 * What the simulation takes for granted. Each is an option of `npm run bench -- scale`, so that nobody has to believe it; `source` says
 * where the number comes from, and what no one has measured is called an assumption.
 */
export const ASSUMPTIONS = {
  "imprint-share": {
    value: 0.9,
    what: "part of the sessions that get an imprint (one pass of the hypernetwork); the others get a LoRA training",
    source: "assumption",
  },
  "imprint-seconds": {
    value: 2,
    what: "an imprint, from request to registered adapter, on two CPU cores",
    source: "measured: docs/benchmarks.md, An imprint in one pass (0.46 to 2.3 s)",
  },
  "window-seconds": {
    value: 7,
    what: "one step of a training on a window of 1,016 tokens, on two CPU cores (131 to 178 tokens/s)",
    source: "measured: docs/benchmarks.md, first table",
  },
  "median-steps": {
    value: 20,
    what: "steps of a LoRA training at the median; 9 for the demo's one window, 20 for a hundred sessions in one job",
    source: "measured: docs/benchmarks.md, How long to train and A hundred sessions in one job",
  },
  "steps-spread": {
    value: 1,
    what: "spread of the steps: standard deviation of their logarithm (1 means that one in twenty has five times as many)",
    source: "assumption",
  },
  "speed-up": {
    value: 20,
    what: "how many times faster a card is than the two CPU cores of which the lengths are",
    source: "assumption: no card has been measured (docs/gpu.md)",
  },
  "start-seconds": {
    value: 5,
    what: "what each job takes besides on the card's worker: staging, reading the base that is warm, registering",
    source: "assumption; on one machine with a warm worker below 1 s",
  },
  "failed-jobs": {
    value: 0.01,
    what: "part of the jobs that fail by themselves, half way, and are started once more",
    source: "assumption",
  },
  "gpu-mtbf-hours": {
    value: 50_700,
    what: "hours between two failures of one card",
    source: "419 interruptions in 54 days of 16,384 cards: The Llama 3 Herd of Models (2024), section 3.3.4",
  },
  "repair-hours": { value: 2, what: "hours until a failed card, or another for it, works again", source: "assumption" },
  "checkpoint-seconds": {
    value: 60,
    what: "seconds of work that a failure of a card costs at most: those since the last checkpoint",
    source: "the default of checkpoint_seconds",
  },
  peak: {
    value: 2,
    what: "sessions an hour at the busiest hour against the mean; the day is a sine",
    source: "assumption",
  },
  "gpu-hour": {
    value: 2.5,
    what: "price of a card's hour, in dollars, whether it works or waits",
    source: "assumption: ask your provider",
  },
  "plane-jobs": {
    value: 46,
    what: "jobs a second through one control plane, adapters registered",
    source: "measured by this benchmark: docs/scale.md",
  },
};

/** As options of `node:util`'s parseArgs. */
export const OPTIONS = Object.fromEntries(
  Object.entries(ASSUMPTIONS).map(([name, { value }]) => [name, { type: "string", default: String(value) }]),
);

/** @throws TypeError for what is no number, or can be none */
export function readAssumptions(options) {
  return Object.fromEntries(
    Object.keys(ASSUMPTIONS).map((name) => {
      const value = Number(options[name]);
      if (!Number.isFinite(value) || value < 0) throw new TypeError(`--${name} must be a number from 0 up`);
      return [name, value];
    }),
  );
}
