import { CLIENTS } from "./clients.mjs";

const ONLY = { "--scripted": "scripted", "--real": "real" };
const USAGE = `Usage: npm run check-agents [-- --scripted | --real] [NAME...], of ${Object.keys(CLIENTS).join(", ")}`;

/** `{names, only}` of the command's arguments, or the `problem` with them. */
export function parseArguments(args) {
  const names = args.filter((arg) => !arg.startsWith("-"));
  const options = args.filter((arg) => arg.startsWith("-"));
  const unknown = options.find((option) => !Object.hasOwn(ONLY, option));
  if (unknown !== undefined) return { problem: `There is no option ${unknown}. ${USAGE}` };
  if (options.length > 1) return { problem: `${options.join(" and ")} exclude each other; without them both are done. ${USAGE}` };
  const nobody = names.find((name) => !Object.hasOwn(CLIENTS, name));
  if (nobody !== undefined) return { problem: `There is no agent ${nobody}. ${USAGE}` };
  return { names, only: ONLY[options[0]] ?? null };
}
