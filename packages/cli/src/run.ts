import { CommanderError } from "commander";
import type { Io } from "./io.js";
import { createProgram } from "./program.js";

/** Runs one command line. Resolves with the exit code: 0 done, 1 failed, 2 wrong usage. Throws nothing. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const json = args.includes("--json");
  const state = { exitCode: 0 };
  let lost: NodeJS.ErrnoException | null = null;
  io.out.on("error", (error: NodeJS.ErrnoException) => {
    lost = error;
  });
  try {
    const program = await createProgram({ io, state, run, args });
    await program.parseAsync(args, { from: "user" });
    await new Promise<void>((written) => io.out.write("", () => written()));
    // A reader that has seen enough (`| head`) is no failure.
    if (lost !== null && (lost as NodeJS.ErrnoException).code !== "EPIPE") throw Object.assign(lost, { path: "Standard output" });
    return state.exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const { explain } = await import("./explain.js");
    const { plain, plainJson } = await import("./output/text.js");
    const { exitCode, lines, document } = explain(error, io.name);
    for (const [index, line] of lines.entries()) {
      io.err.write(`${index === 0 ? io.paint.err("red", "error: ") : io.paint.err("dim", "       ")}${plain(line)}\n`);
    }
    if (json) io.out.write(`${plainJson({ error: document })}\n`);
    return exitCode;
  }
}
