/** Why text of a file is not in the session: the reasons that `dropped` gives. */
export const DROPPED = {
  harness: "harness text",
  localCommand: "local command",
  sidechain: "sub-agent lines",
  abandoned: "abandoned branch",
  compactSummary: "compaction summary",
  copied: "copied context",
  demonstration: "demonstration",
  synthetic: "synthetic message",
  empty: "empty answer",
  duplicate: "repeated line",
  repeatedCall: "repeated tool call",
  repeatedResult: "repeated tool result",
  unrecordedResult: "tool result not recorded",
  partialCall: "call not recorded in full",
  missing: "missing message",
  repeatedText: "repeated text",
  unsent: "request that was never sent",
  providerCall: "call run by the provider",
  rejected: "rejected conversation",
  environment: "environment note",
  systemUpdate: "system prompt update",
  console: "console output",
  shortened: "tool output shortened",
} as const;

const UNREAD = "line not read: ";

/** What a file calls its lines goes into the reason as it is only where it can be nothing but a name. */
const KIND = /^[A-Za-z][A-Za-z_.:/-]{0,47}$/;

/** Why a line is not in the session that no importer reads, by the kind that the line says it is. */
export const unread = (...kind: readonly unknown[]): string => {
  const names = kind.filter((name): name is string => typeof name === "string" && KIND.test(name));
  return `${UNREAD}${names.length === 0 ? "of no known kind" : names.join(" ")}`;
};

/** The kinds of the lines that no importer read, among the reasons of a file. */
export const unreadKinds = (reasons: Iterable<string>): readonly string[] =>
  [...reasons].filter((reason) => reason.startsWith(UNREAD)).map((reason) => reason.slice(UNREAD.length));
