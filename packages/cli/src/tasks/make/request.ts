import type { Session, Step } from "@imprint/contracts";

export interface Request {
  readonly text: string;
  /** The place of its step. */
  readonly at: number;
}

/** The words of a person in the templates of mini-SWE-agent. */
const TEMPLATES = [
  /<pr_description>\s*(?:Consider the following PR description:\s*)?([\s\S]*?)\s*<\/pr_description>/,
  /^\s*Please solve this issue:\s*([\s\S]*?)\s*(?:\n\s*You can execute bash commands|<instructions>)/,
];
/** What a person does to the tool, what it ran, and what it was told. */
const NO_REQUEST =
  /^(?:\/[a-z][\w:-]*(?:\s|$)|\$ |<(?:local-command|command-|bash-|system-reminder|environment_context|user_instructions)|Caveat:|\[Request interrupted|\[(?:image|file)\]$|# AGENTS\.md)/i;
/** Words that let the agent go on, and ask for nothing new. */
const GO_ON =
  /^(?:y|yes|ok(?:ay)?|sure|go(?: ahead| on| for it)?|continue|proceed|please (?:continue|proceed)|thanks?(?: you)?|great|nice|perfect|good|looks good|lgtm|commit(?: (?:it|this|and push))?|push(?: it)?|do it)[\s.!,]*(?:please[.!]*)?$/i;

const wordsOf = (text: string): string =>
  (TEMPLATES.map((one) => one.exec(text)?.[1]).find((found) => found !== undefined) ?? text).trim();

const asks = ({ source, context_only }: Step, text: string): boolean =>
  source === "user" && context_only !== "copied" && text.length > 3 && !NO_REQUEST.test(text) && !GO_ON.test(text);

/** What a person asked for, turn by turn, without what tools wrote in their place and without words that only let the agent go on. */
export const requestsOf = ({ steps }: Session): readonly Request[] =>
  steps.flatMap((step, at) => {
    const text = step.source === "user" ? wordsOf(step.text) : "";
    return asks(step, text) ? [{ text, at }] : [];
  });

/** A command of the agent's own that stands where a request would: `/review`; null where there is none. Its text is not in the recording. */
export const commandIn = ({ steps }: Session): string | null =>
  steps.flatMap(({ source, text }) => (source === "user" ? (/^\/[a-z][\w:-]*/i.exec(text.trim())?.[0] ?? []) : []))[0] ?? null;
