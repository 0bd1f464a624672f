import { ASSUMPTIONS, OPTIONS, readAssumptions } from "./assumptions.mjs";
import { meanWork, simulate } from "./simulate.mjs";
import { measureThroughput } from "./throughput.mjs";

const GPUS = [1, 10, 100, 1_000];
const SESSIONS = [10_000, 100_000, 1_000_000];

const seconds = (value) =>
  value < 1
    ? "< 1 s"
    : value < 120
      ? `${Math.round(value)} s`
      : value < 7_200
        ? `${Math.round(value / 60)} min`
        : `${(value / 3_600).toFixed(1)} h`;
const percent = (part) => `${(100 * part).toFixed(part < 0.01 ? 2 : 0)} %`;
const money = (dollars) => (dollars === null ? "-" : `$${dollars.toPrecision(2)}`);

/** A row of the table in docs/scale.md. */
const row = (found) =>
  `| ${[
    found.sessions.toLocaleString("en"),
    found.gpus.toLocaleString("en"),
    found.overloaded ? `grows: ${found.waiting.toLocaleString("en")} wait` : seconds(found.queue_seconds.median),
    found.overloaded ? "" : seconds(found.queue_seconds.p95),
    percent(found.utilisation),
    money(found.dollars_per_adapter),
    percent(found.control_plane),
  ].join(" | ")} |`;

export const benchmark = {
  name: "scale",
  description: "jobs a second through one control plane, and a simulation of 1 to 1,000 cards",
  options: {
    ...OPTIONS,
    seed: { type: "string", default: "1" },
    jobs: { type: "string", default: "100000" },
    registered: { type: "string", default: "2000" },
    /** The simulation alone: it takes half a minute, whatever else the machine does. */
    "simulate-only": { type: "boolean", default: false },
  },
  async run({ options, print }) {
    const assumed = readAssumptions(options);
    print("Assumptions, each an option:");
    for (const [name, { what, source }] of Object.entries(ASSUMPTIONS))
      print(`  --${name} ${assumed[name]}: ${what} (${source})`);
    const throughput = options["simulate-only"]
      ? null
      : await measureThroughput({ jobs: Number(options.jobs), registered: Number(options.registered), print });

    const mean = meanWork(assumed);
    print(
      `A session takes ${mean.toFixed(1)} s of a card on the average, which costs ${money((mean / 3_600) * assumed["gpu-hour"])}.`,
    );
    const saturates = assumed["plane-jobs"] * 86_400;
    print(`One control plane is full at ${saturates.toLocaleString("en")} sessions a day, at an even pace.`);
    print(
      "| sessions a day | cards | queue, median | 95th percentile | utilisation | an adapter | control plane |\n|---|---|---|---|---|---|---|",
    );
    const rows = [];
    for (const sessions of SESSIONS)
      for (const gpus of GPUS) {
        const found = simulate({ gpus, sessions, assumed, seed: Number(options.seed) });
        rows.push(found);
        print(row(found));
      }
    return { assumed, throughput, card_seconds_per_session: mean, saturates_at_sessions_a_day: saturates, rows };
  },
};
