import path from "node:path";

/** How this command was called, as its hints repeat it. `program` is what Node runs. */
export function invocation(env: NodeJS.ProcessEnv, program: string): string {
  if (env.npm_lifecycle_event === "imprint") return "npm run imprint --";
  const onPath = (env.PATH ?? "").split(path.delimiter).includes(path.dirname(program));
  const linked = path.basename(program) === "imprint" && env.npm_lifecycle_event !== "npx" && onPath;
  return linked ? "imprint" : "npx imprint";
}
