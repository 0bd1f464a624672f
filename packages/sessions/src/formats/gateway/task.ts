import type { Step } from "@imprint/contracts";
import { classifyUserText } from "../claude-code/harness.js";
import { classifyBlock, withoutDetails } from "../cline/user-text.js";
import { personText } from "../codex/harness.js";

/** A person's words in what an agent sent as theirs, without what Claude Code, Codex or Cline put there; null where nothing else is. */
function wordsOf(sent: string): string | null {
  const said = personText(sent);
  if (said === null) return null;
  const read = classifyUserText(said);
  if (read.kind !== "person") return "text" in read ? read.text : null;
  const block = classifyBlock(read.text);
  if (block.kind === "person") return block.text;
  return block.kind === "plain" ? withoutDetails(read.text) : null;
}

/**
 * What a person asked for: recordings keep what agents add to it, since it is what the model was given. Where an agent put examples into
 * the model's mouth (aider), the task is what comes behind them. Null where all is the agents'.
 */
export function gatewayTask(steps: readonly Step[]): string | null {
  const first = steps.findIndex(({ source, context_only }) => source === "agent" && context_only !== "synthetic");
  const before = first < 0 ? steps : steps.slice(0, first);
  const examples = before.findLastIndex(({ source }) => source === "agent");
  const words = (some: readonly Step[]): string | undefined =>
    some.flatMap(({ source, text }) => (source === "user" ? (wordsOf(text) ?? []) : [])).find((text) => text.trim() !== "");
  return words(before.slice(examples + 1)) ?? words(before) ?? null;
}
