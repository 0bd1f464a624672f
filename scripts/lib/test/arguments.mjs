import { parseArguments as parseAgents } from "../agents/arguments.mjs";

const PARTS = ["checks", "vitest", "pytest"];
/** Agents come from registries, and take minutes: beside the tests. */
const EVERY = [...PARTS, "agents"];
const ALL = "all";

/** `npm test` runs the tests' parts, `npm test -- all` the agents too; `npm test -- PART [its own arguments]` runs one of them. */
export function parseArguments(args) {
  if (args.length === 0) return { parts: PARTS, rest: [] };
  const [part, ...rest] = args;
  const isAll = part === ALL;
  if (!isAll && !EVERY.includes(part))
    return { problem: `Unknown part ${part}. Usage: npm test [-- ${[...EVERY, ALL].join(" | ")} [arguments]]` };
  if ((isAll || part === "checks") && rest.length > 0)
    return { problem: `${part} takes no arguments; ${rest[0]} is one too many.` };
  const { problem } = part === "agents" ? parseAgents(rest) : {};
  if (problem) return { problem };
  return { parts: isAll ? EVERY : [part], rest };
}
