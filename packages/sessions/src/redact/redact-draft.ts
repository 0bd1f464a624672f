import type { Step } from "@imprint/contracts";
import type { Draft } from "../draft.js";
import { tally } from "../tally.js";
import type { Redactor } from "./redactor.js";

export interface Redacted {
  readonly draft: Draft;
  readonly redactions: readonly (readonly [kind: string, count: number])[];
}

/** The draft with every text of its steps redacted, and how many secrets of which kind there were. */
export function redactDraft(draft: Draft, secrets: Redactor): Redacted {
  const kinds = tally();
  let found = 0;
  const clean = (text: string): string =>
    secrets.redact(text, (kind) => {
      found++;
      kinds.add(kind);
    });
  const cleaned = (step: Step): Step => ({
    ...step,
    text: clean(step.text),
    ...(step.reasoning === undefined ? {} : { reasoning: clean(step.reasoning) }),
    ...(step.tool_calls === undefined
      ? {}
      : { tool_calls: step.tool_calls.map((call) => ({ ...call, arguments: clean(call.arguments) })) }),
    ...(step.observations === undefined
      ? {}
      : { observations: step.observations.map((one) => ({ ...one, content: clean(one.content) })) }),
  });
  /** A step without secrets stays the same object: a second copy of a large session would be held. */
  const cleanStep = (step: Step): Step => {
    const before = found;
    const made = cleaned(step);
    return found === before ? step : made;
  };
  const tools = draft.tools.map((tool) =>
    tool.description === undefined ? tool : { ...tool, description: clean(tool.description) },
  );
  const steps = draft.steps.map(cleanStep);
  return { draft: { ...draft, tools, steps }, redactions: kinds.entries() };
}
