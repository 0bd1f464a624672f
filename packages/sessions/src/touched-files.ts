import type { Session } from "@imprint/contracts";

/** Files that calls name: something/like/this.ts, in JSON or in a command. */
const PATH = /(?:[\w.@+~-]+)?(?:\/[\w.@+-]+)+\.[A-Za-z]\w{0,7}\b/g;
const ESCAPED = /\\[nrt"\\/]/g;
/** Of no repository of one's own. */
const FOREIGN = /^\/(?:usr|etc|tmp|proc|dev|bin|lib|opt|var)\/|(?:^|\/)(?:node_modules|site-packages|\.git)\//;
const KEPT = 1000;

/** A file's folder and name: agents name it from the root of the disk or of the repository. */
const shortened = (path: string): string => path.split("/").slice(-2).join("/");

/** Files that a session's calls name, each by its folder and name: two sessions of one repository share some. */
export function touchedFiles({ steps }: Session): readonly string[] {
  const texts = steps.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => call.arguments.replace(ESCAPED, " ")));
  const paths = texts.flatMap((text) => text.match(PATH) ?? []).filter((path) => !FOREIGN.test(path));
  return [...new Set(paths.map(shortened))].filter((path) => !path.startsWith("/") && !path.startsWith("./")).slice(0, KEPT);
}
