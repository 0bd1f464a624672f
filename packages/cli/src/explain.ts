import { ApiError, ImprintError } from "@imprint/client";
import { ERRORS } from "@imprint/contracts";
import { CannotStartError, ConfigError } from "@imprint/server/configuration";
import { CommanderError } from "commander";
import { CommandError, UsageError } from "./errors.js";
import { plain } from "./output/text.js";

export interface Explanation {
  readonly exitCode: 1 | 2;
  /** A sentence, then what else is known. */
  readonly lines: readonly string[];
  /** The same for `--json`. */
  readonly document: Readonly<Record<string, unknown>>;
}

const usage = (message: string): Explanation => ({
  exitCode: 2,
  lines: message.split("\n"),
  document: { code: "USAGE", message, hint: "imprint --help lists the commands, imprint COMMAND --help their options." },
});

function refused(error: ApiError): Explanation {
  const hint = error.code === null ? null : (ERRORS[error.code]?.hint ?? null);
  const { code, detail: message, requestId: request_id, errors } = error;
  const wrong = errors.map(({ path, message: sentence }) => `${path}: ${sentence}`);
  return {
    exitCode: 1,
    lines: [message, ...wrong, ...(hint === null || message.includes(hint) ? [] : [hint])].map(plain),
    document: { code, message, hint, errors, request_id },
  };
}

/** What to say about an error, and the exit code it calls for. Only errors of nobody's making carry their trace. */
export function explain(error: unknown): Explanation {
  if (error instanceof CommanderError)
    return usage(error.message.replace(/^error: /, "").replace(/^\(outputHelp\)$/, "a command is missing"));
  if (error instanceof UsageError || error instanceof ConfigError) return usage(error.message);
  if (error instanceof ApiError) return refused(error);
  const known = [ImprintError, CommandError, CannotStartError];
  if (error instanceof Error && known.some((Class) => error instanceof Class)) {
    return {
      exitCode: 1,
      lines: error.message.split("\n"),
      document: { code: error instanceof CommandError ? error.code : null, message: error.message, hint: null },
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  const lines = [`Unexpected: ${message}`, "This is a fault of imprint: please report it with the lines below."];
  const trace = error instanceof Error && error.stack !== undefined ? error.stack.split("\n").slice(1, 6) : [];
  return { exitCode: 1, lines: [...lines, ...trace], document: { code: "INTERNAL_ERROR", message, hint: null } };
}
