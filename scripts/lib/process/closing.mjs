import process from "node:process";
import { sum } from "../test/verdict.mjs";
import { Interrupted } from "./failures.mjs";

/** Runs until a signal comes, and closes with the sum of the outcomes; `before` prints what stands above it. Resolves with the exit code. */
export async function closing({ run, print, before = () => {} }) {
  const interrupt = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => interrupt.abort());
  try {
    const { failures, line } = sum(await run(interrupt.signal));
    before(failures);
    print(line);
    return failures.length === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    print("Stopped.");
    return 130;
  }
}
