import path from "node:path";
import { Interrupted, SetupFailure } from "../process/failures.mjs";
import { cacheFolder } from "./environment.mjs";
import { createReporter, elapsed } from "./reporter.mjs";
import { ROOT } from "./root.mjs";
import { setUp } from "./set-up.mjs";

export { ROOT };

const SHOWN_AT_EACH_END = 12;

/** The set-up as a program: says what it does, turns failures into a sentence, and resolves with the exit code. */
export async function main({ args, env = process.env, root = ROOT, stream = process.stdout, steps } = {}) {
  const unknown = args.filter((arg) => !["--dev", "--no-llama-cpp", "--ray"].includes(arg));
  if (unknown.length > 0) {
    stream.write(
      `Unknown option ${unknown[0]}. Usage: npm run setup [-- --dev --no-llama-cpp --ray]   (--dev: also what the tests need; --no-llama-cpp: without llama.cpp, so that the trainer answers chats; --ray: also a Ray head of this machine)\n`,
    );
    return 2;
  }
  const cache = cacheFolder({ env });
  const reporter = createReporter({ stream });
  const interrupt = new AbortController();
  const stop = () => interrupt.abort();
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const name of signals) process.on(name, stop);
  const started = Date.now();
  try {
    const worked = await setUp({
      root,
      cache,
      env,
      dev: args.includes("--dev"),
      llamaCpp: !args.includes("--no-llama-cpp"),
      ray: args.includes("--ray"),
      signal: interrupt.signal,
      reporter,
      ...(steps && { steps }),
    });
    reporter.close();
    stream.write(
      worked ? `Set up in ${elapsed(Date.now() - started)}. Shared parts are in ${cache}.\n` : "Set up already; nothing to do.\n",
    );
    return 0;
  } catch (error) {
    reporter.close();
    return refuse(error, { root, stream });
  } finally {
    for (const name of signals) process.off(name, stop);
  }
}

function refuse(error, { root, stream }) {
  if (error instanceof Interrupted) {
    stream.write("Stopped. Nothing half-made was kept; run it again to go on.\n");
    return 130;
  }
  if (error instanceof SetupFailure) {
    const said = error.output.split("\n").filter((line) => line.trim() !== "" && !line.includes("http fetch"));
    if (said.length > 0) stream.write(`\n${bothEnds(said).join("\n")}\n`);
    stream.write(`\n${error.message}\n`);
    return 1;
  }
  const sentence = {
    ENOSPC: "The disk is full.",
    EACCES: `No permission to write to ${error.path}.`,
    EROFS: `${error.path} is read-only.`,
  }[error.code];
  stream.write(`\n${sentence ?? `The set-up failed in ${path.basename(root)}: ${error.stack}`}\n`);
  return 1;
}

const bothEnds = (lines) =>
  lines.length <= 2 * SHOWN_AT_EACH_END
    ? lines
    : [...lines.slice(0, SHOWN_AT_EACH_END), "...", ...lines.slice(-SHOWN_AT_EACH_END)];
