import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { commit, machine } from "./machine.mjs";

const COMMON = {
  json: { type: "boolean", default: false },
  rounds: { type: "string", default: "5" },
  "no-keep": { type: "boolean", default: false },
};

const list = (benchmarks) => benchmarks.map(({ name, description }) => `  ${name.padEnd(14)} ${description}`).join("\n");

/** An option that cannot be used, in a sentence. */
export class UsageError extends Error {}

function parsed(benchmark, args) {
  const options = { ...COMMON, ...benchmark.options };
  try {
    const { values } = parseArgs({ args, options });
    const rounds = Number(values.rounds);
    if (!Number.isInteger(rounds) || rounds < 1) throw new TypeError("--rounds must be a whole number from 1 up");
    return { options: values, rounds };
  } catch ({ message }) {
    const names = Object.keys(options).map((option) => `--${option}`);
    throw new UsageError(`${message}. Its options: ${names.join(", ")}.`);
  }
}

/**
 * Runs the benchmark that the first argument names, prints its sentences (or, with --json, its result) and keeps the
 * result as a file. Gives the exit code: 0, or 2 when the arguments cannot be used.
 */
export async function main({ args, benchmarks, root, now = new Date(), out = console.log, err = console.error }) {
  const [name, ...rest] = args;
  if (name === undefined) {
    out(`Benchmarks, run with npm run bench -- NAME [--rounds N] [--json] [--no-keep]:\n${list(benchmarks)}`);
    return 0;
  }
  const benchmark = benchmarks.find((one) => one.name === name);
  if (benchmark === undefined) {
    err(`There is no benchmark "${name}". Choose one of:\n${list(benchmarks)}`);
    return 2;
  }
  try {
    const { options, rounds } = parsed(benchmark, rest);
    const figures = await benchmark.run({ options, rounds, print: options.json ? () => {} : out });
    const result = { benchmark: name, date: now.toISOString(), ...commit(root), machine: machine(root), rounds, figures };
    if (options.json) out(JSON.stringify(result, null, 1));
    const file = options["no-keep"] ? null : keep({ root, result });
    if (file !== null && !options.json) out(`Kept in ${file}`);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    err(`${name}: ${error.message}`);
    return 2;
  }
}

/** Keeps a result as bench/results/<name>-<date>-<commit>.json and gives that path, relative to the root. */
function keep({ root, result }) {
  const file = `bench/results/${result.benchmark}-${result.date.slice(0, 10)}-${result.commit}${result.dirty ? "-dirty" : ""}.json`;
  mkdirSync(path.join(root, "bench/results"), { recursive: true });
  writeFileSync(path.join(root, file), `${JSON.stringify(result, null, 1)}\n`);
  return file;
}
