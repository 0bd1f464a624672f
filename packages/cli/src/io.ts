import { invocation } from "./invocation.js";
import { createPaint, type Paint } from "./output/paint.js";

/** What a command may touch of the process it runs in. */
export interface Io {
  readonly out: NodeJS.WriteStream;
  readonly err: NodeJS.WriteStream;
  readonly input: NodeJS.ReadStream;
  readonly env: NodeJS.ProcessEnv;
  /** How the command was called, for hints: imprint, npx imprint, ... */
  readonly name: string;
  /** Colours for standard output and standard error. */
  readonly paint: { readonly out: Paint; readonly err: Paint };
  /** Calls the handler instead of dying on Ctrl-C and TERM, until the returned function is called. */
  onInterrupt(handler: () => void): () => void;
}

export function systemIo(): Io {
  const { stdout, stderr, stdin, env, argv } = process;
  return {
    out: stdout,
    err: stderr,
    input: stdin,
    env,
    name: invocation(env, argv[1] ?? ""),
    paint: { out: createPaint(stdout, env), err: createPaint(stderr, env) },
    onInterrupt: (handler) => {
      process.on("SIGINT", handler);
      process.on("SIGTERM", handler);
      return () => {
        process.off("SIGINT", handler);
        process.off("SIGTERM", handler);
      };
    },
  };
}
