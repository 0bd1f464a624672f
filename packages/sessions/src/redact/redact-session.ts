import type { Session, Step, ToolDefinition } from "@imprint/contracts";
import type { Draft } from "../draft.js";
import type { Facts } from "../facts.js";
import { tally } from "../tally.js";
import { isAccount } from "./accounts.js";
import { type Redactor, redactor } from "./redactor.js";

export interface Redacted {
  readonly draft: Draft;
  readonly redactions: readonly (readonly [kind: string, count: number])[];
}

interface Conversation {
  readonly tools: readonly ToolDefinition[];
  readonly steps: readonly Step[];
  readonly signal: string | null;
}

type Change = (text: string) => string;

/** The value with `change` applied to each of its strings and names of fields: a schema names properties as its tool pleases. */
function eachString<T>(value: T, change: Change): T;
function eachString(value: unknown, change: Change): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((one) => eachString(one, change));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [change(name), eachString(one, change)]));
}

const eachOfStep = (step: Step, change: Change): Step => ({
  ...step,
  text: change(step.text),
  ...(step.reasoning === undefined ? {} : { reasoning: change(step.reasoning) }),
  ...(step.tool_calls === undefined
    ? {}
    : {
        tool_calls: step.tool_calls.map(({ id, name, ...call }) => ({
          ...call,
          id: change(id),
          name: change(name),
          arguments: change(call.arguments),
        })),
      }),
  ...(step.observations === undefined
    ? {}
    : {
        observations: step.observations.map((one) => ({
          ...one,
          call_id: one.call_id === null ? null : change(one.call_id),
          content: change(one.content),
        })),
      }),
});

/** A step without secrets stays the same object: a second copy of a large session would be held. */
function changedStep(step: Step, change: Change): Step {
  let isChanged = false;
  const made = eachOfStep(step, (text) => {
    const clean = change(text);
    isChanged ||= clean !== text;
    return clean;
  });
  return isChanged ? made : step;
}

/** The conversation with every text of it changed, always in the same order: what was said, called and answered, and the tools. */
const eachText = ({ tools, steps, signal }: Conversation, change: Change): Conversation => ({
  tools: tools.map((tool) => ({
    name: change(tool.name),
    ...(tool.description === undefined ? {} : { description: change(tool.description) }),
    ...(tool.parameters === undefined ? {} : { parameters: eachString(tool.parameters, change) }),
  })),
  steps: steps.map((step) => changedStep(step, change)),
  signal: signal === null ? null : change(signal),
});

function redacted(conversation: Conversation, secrets: Redactor, found: (kind: string) => void): Conversation {
  const texts: string[] = [];
  eachText(conversation, (text) => {
    texts.push(text);
    return text;
  });
  const clean = secrets.redact(texts, found);
  let next = 0;
  return eachText(conversation, () => clean[next++] ?? "");
}

/** A folder keeps the name of its account, since it is found again by it; a secret in it goes like any other. */
function redactFacts(facts: Facts, found: (kind: string) => void): Facts {
  const told = Object.entries(facts).filter(([, text]) => text !== null) as [keyof Facts, string][];
  if (told.length === 0) return facts;
  const clean = redactor().redact(
    told.map(([, text]) => text),
    (kind) => isAccount(kind) || found(kind),
  );
  const safe = told.map(([name, text], at) => [name, clean[at]?.includes("<SECRET:") ? clean[at] : text]);
  return { ...facts, ...Object.fromEntries(safe) };
}

/** The draft with every text redacted, and how many secrets of which kind there were. */
export function redactDraft(draft: Draft, secrets: Redactor): Redacted {
  const kinds = tally();
  const { tools, steps, signal } = redacted({ ...draft, signal: draft.outcomeSignal }, secrets, (kind) => kinds.add(kind));
  const facts = redactFacts(draft.facts, (kind) => kinds.add(kind));
  return { draft: { ...draft, facts, tools, steps, outcomeSignal: signal }, redactions: kinds.entries() };
}

/** A stored session redacted again, by rules that may know more than those it was imported with. */
export function redactSession(session: Session): Session {
  const kinds = tally();
  for (const { kind, count } of session.redactions) kinds.add(kind, count);
  const { tools, steps, signal } = redacted({ ...session, signal: session.outcome_signal }, redactor(), (kind) =>
    kinds.add(kind),
  );
  return {
    ...session,
    tools: [...tools],
    steps: [...steps],
    outcome_signal: signal,
    redactions: kinds.entries().map(([kind, count]) => ({ kind, count })),
  };
}
