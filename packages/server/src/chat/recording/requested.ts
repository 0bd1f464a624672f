import type { IncomingMessage } from "node:http";
import { ProblemError } from "../../common/error.js";

/** Whether to record a conversation, `1` or `0`, who asks, and what the session's id begins with. */
const RECORD = "x-imprint-record";
const AGENT = "x-imprint-agent";
const GROUP = "x-imprint-group";

const NAME = "[a-z0-9][a-z0-9-]{0,39}";
/** `/record/v1/...` or `/record/AGENT/v1/...`; without `v1` what clients look at to see whether anyone is there. */
const PREFIX = new RegExp(`^/record(?:/(?!v1(?:/|$))(${NAME}))?(?=/v1/|/?(?:\\?|$))`);

/**
 * The path without the prefix that asks for recording, which then stands in the headers: every client has a base address, and few can
 * be told of headers.
 */
export const stripRecordPrefix = ({ url = "/", headers }: Pick<IncomingMessage, "url" | "headers">): string => {
  const found = PREFIX.exec(url);
  if (found === null) return url;
  const [prefix, agent] = found;
  headers[RECORD] = "1";
  if (agent !== undefined) headers[AGENT] = agent;
  const rest = url.slice(prefix.length);
  return rest.startsWith("/") ? rest : `/${rest}`;
};

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Whether the request asks to be recorded, or not to be; null where it says nothing. Throws ProblemError. */
export const asksToRecord = (headers: Headers): boolean | null => {
  const value = headers[RECORD];
  if (value === undefined) return null;
  if (value === "1" || value === "0") return value === "1";
  throw new ProblemError(
    "VALIDATION_FAILED",
    `The header ${RECORD} is ${JSON.stringify(value)}: send 1 to record the conversation, or 0.`,
  );
};

/** Beginnings of the user agents that name an agent; those of others name a library that many use. */
const USER_AGENTS: readonly (readonly [beginning: RegExp, agent: string])[] = [
  [/^codex/i, "codex"],
  [/^claude-cli\//, "claude-code"],
  [/^opencode\//, "opencode"],
];

const isName = (named: unknown): named is string => typeof named === "string" && new RegExp(`^${NAME}$`).test(named);

const refused = (header: string, named: unknown): ProblemError =>
  new ProblemError(
    "VALIDATION_FAILED",
    `The header ${header} is ${JSON.stringify(named)}: a name there has up to 40 of a-z, 0-9 and -.`,
  );

/** Who asks, by the header, else by the user agent; null where that names nobody. Throws ProblemError. */
export const agentOf = (headers: Headers): string | null => {
  const { [AGENT]: named, "user-agent": userAgent } = headers;
  if (named === undefined) {
    const known = USER_AGENTS.find(([beginning]) => beginning.test(String(userAgent ?? "")));
    return known?.[1] ?? null;
  }
  if (isName(named)) return named;
  throw refused(AGENT, named);
};

/** What conversations belong to: those of others are never the same. By default that of all. Throws ProblemError. */
export const groupOf = ({ [GROUP]: named = "gateway" }: Headers): string => {
  if (isName(named)) return named;
  throw refused(GROUP, named);
};
