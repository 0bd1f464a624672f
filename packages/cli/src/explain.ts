import { ApiError, ImprintError } from "@imprint/client";
import { ERRORS } from "@imprint/contracts";
import { CannotStartError, ConfigError, diskRefusal } from "@imprint/server/configuration";
import { CommanderError } from "commander";
import { CommandError, UsageError } from "./errors.js";
import { plain } from "./output/text.js";
import { fieldInCommandWords, hintFor, inCommandWords } from "./output/wording.js";

export interface Explanation {
  readonly exitCode: 1 | 2;
  /** A sentence, then what else is known. */
  readonly lines: readonly string[];
  /** The same for `--json`. */
  readonly document: Readonly<Record<string, unknown>>;
}

/** What was named on the command line is not there, or not what is asked of it: wrong usage in every command. */
const WRONGLY_NAMED = /(^|_)NOT_FOUND$|^SESSION_TRAINED_ON$/;

/** Flags of other tools, or that people expect here, and what stands for them. */
const EXPECTED: Readonly<Record<string, string>> = {
  "--model": "--base-model names the base model",
  "--token": "the token is taken from the variable IMPRINT_TOKEN",
};

/** What a parser's refusal leaves unsaid. */
function remedy({ code, message }: CommanderError): string {
  const [, flag = ""] = /unknown option '([^']+)'/.exec(message) ?? [];
  const expected = EXPECTED[flag];
  if (expected !== undefined) return `: ${expected}`;
  if (/^-[^-]{2}/.test(flag)) return `; a path that begins with a dash is written ./${flag}`;
  return code === "commander.missingArgument" ? ": --help shows examples" : "";
}

const usage = (message: string, name: string): Explanation => ({
  exitCode: 2,
  lines: message.split("\n"),
  document: { code: "USAGE", message, hint: `${name} --help lists the commands, ${name} COMMAND --help their options.` },
});

function refused({ code, detail, requestId: request_id, errors }: ApiError, name: string): Explanation {
  const known = code !== null && Object.hasOwn(ERRORS, code) ? code : null;
  const hint = known && inCommandWords(hintFor(known), name);
  const wrong = errors.map(({ path, message }) => inCommandWords(`${fieldInCommandWords(path)} ${message}`, name));
  const bare = known === null ? detail : detail.replace(ERRORS[known].hint, "").trim();
  const said = known !== null && bare === "" ? `${ERRORS[known].title}.` : inCommandWords(bare, name);
  const message = code === "VALIDATION_FAILED" && wrong.length > 0 ? wrong.join("\n") : said;
  return {
    exitCode: WRONGLY_NAMED.test(String(code)) || errors.length > 0 ? 2 : 1,
    lines: [...message.split("\n"), ...(hint === null || message.includes(hint) ? [] : [hint])].map(plain),
    document: { code, message, hint, errors, request_id },
  };
}

/**
 * What to say about an error, and the exit code it calls for. Only errors of nobody's making carry their trace.
 * `name` is how the command was called.
 */
export function explain(error: unknown, name: string): Explanation {
  if (error instanceof CommanderError)
    return usage(error.message.replace(/^error: /, "").replace(/^\(outputHelp\)$/, "a command is missing") + remedy(error), name);
  if (error instanceof UsageError || error instanceof ConfigError) return usage(inCommandWords(error.message, name), name);
  if (error instanceof ApiError) return refused(error, name);
  const known = [ImprintError, CommandError, CannotStartError];
  if (error instanceof Error && known.some((Class) => error instanceof Class)) {
    const message = inCommandWords(error.message, name);
    const code = error instanceof CommandError ? error.code : null;
    return { exitCode: 1, lines: message.split("\n"), document: { code, message, hint: null } };
  }
  const refusal = diskRefusal(error);
  if (refusal !== undefined) {
    const place = error instanceof Error && "path" in error ? String(error.path) : "A file";
    const message = `${place} cannot be used: ${refusal}. Make room, change its permissions, or choose another place.`;
    return { exitCode: 1, lines: [plain(message)], document: { code: null, message, hint: null } };
  }
  const message = error instanceof Error ? error.message : String(error);
  const lines = [`Unexpected: ${message}`, "This is a fault of imprint: please report it with the lines below."];
  const trace = error instanceof Error && error.stack !== undefined ? error.stack.split("\n").slice(1, 6) : [];
  return { exitCode: 1, lines: [...lines, ...trace], document: { code: "INTERNAL_ERROR", message, hint: null } };
}
