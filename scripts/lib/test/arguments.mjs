const PARTS = ["checks", "vitest", "pytest"];

/** `npm test` runs every part; `npm test -- PART [its own arguments]` one of them. */
export function parseArguments(args) {
  if (args.length === 0) return { parts: PARTS, rest: [] };
  const [part, ...rest] = args;
  if (!PARTS.includes(part)) return { problem: `Unknown part ${part}. Usage: npm test [-- ${PARTS.join(" | ")} [arguments]]` };
  if (part === "checks" && rest.length > 0) return { problem: `checks takes no arguments; ${rest[0]} is one too many.` };
  return { parts: [part], rest };
}
