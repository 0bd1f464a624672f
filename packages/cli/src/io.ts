import { existsSync } from "node:fs";
import path from "node:path";
import { createPaint, type Paint } from "./output/paint.js";

/** How this command was called, as its hints repeat it. `program` is what Node runs. */
function invocation(env: NodeJS.ProcessEnv, program: string): string {
  if (env.npm_lifecycle_event === "imprint") return "npm run imprint --";
  if (path.basename(program) === "imprint.mjs" && env.npm_lifecycle_event === undefined) {
    const near = path.relative(process.cwd(), program);
    return `node ${near.startsWith("..") ? program : near}`;
  }
  const onPath = (env.PATH ?? "").split(path.delimiter).includes(path.dirname(program));
  const linked = path.basename(program) === "imprint" && env.npm_lifecycle_event !== "npx" && onPath;
  return linked || !isClone() ? "imprint" : "npx imprint";
}

/** Outside of a clone npx would fetch a package of this name, which is not ours. */
const isClone = (): boolean => existsSync(new URL("../../../package-lock.json", import.meta.url));

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
  /** Calls the handler instead of dying on Ctrl-C (SIGINT) and TERM, until the returned function is called. */
  onInterrupt(handler: (signal: NodeJS.Signals) => void): () => void;
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
