import type { Outcome, Parent, Step, ToolDefinition } from "@imprint/contracts";
import { type Facts, factsOf } from "./facts.js";

/** What a format's reader makes of one conversation, before ids, redaction and hashes. */
export interface Draft {
  /** The format's own id, whatever it looks like. */
  readonly id: string | null;
  /** What tells the conversation from the others of its file, such as a benchmark's instance; goes behind the file's id. */
  readonly part: string | null;
  readonly formatVersion: string | null;
  readonly agent: string | null;
  readonly model: string | null;
  readonly facts: Facts;
  readonly taskType: string | null;
  readonly outcome: Outcome;
  readonly outcomeSignal: string | null;
  readonly startedAt: string | null;
  readonly parent: Parent | null;
  readonly tools: readonly ToolDefinition[];
  readonly steps: readonly Step[];
  readonly dropped: readonly (readonly [reason: string, count: number])[];
}

/** A draft from the parts that a format knows; what it does not know is null, `unknown` or empty. */
export const draft = (known: Partial<Draft> & Pick<Draft, "steps">): Draft => ({
  id: null,
  part: null,
  formatVersion: null,
  agent: null,
  model: null,
  facts: factsOf({}),
  taskType: null,
  outcome: "unknown",
  outcomeSignal: null,
  startedAt: known.steps.find((step) => step.timestamp !== undefined)?.timestamp ?? null,
  parent: null,
  tools: [],
  dropped: [],
  ...known,
});

/** The session of that id as a parent; null without an id. */
export const parentSession = (session_id: string | null, kinship: Parent["kinship"]): Parent | null =>
  session_id === null ? null : { session_id, kinship };
