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
  repeatedResult: "repeated tool result",
  providerCall: "call run by the provider",
  environment: "environment note",
  systemUpdate: "system prompt update",
  console: "console output",
  shortened: "tool output shortened",
} as const;
