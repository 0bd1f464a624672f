import type { Outcome, ToolDefinition } from "@imprint/contracts";
import { type Draft, draft } from "../../draft.js";
import { factsOf } from "../../facts.js";
import type { Transcript } from "../../transcript.js";
import { isString, type JsonObject, objectOrEmpty, stringOrNull } from "../../values/json.js";
import { verdictOf } from "../../values/verdict.js";

/** What one line of an evaluation's `output.jsonl` says about its run beside the events. */
interface BenchmarkRun {
  readonly instance: string | null;
  /** The task as it was given to the agent, for histories that begin with an action. */
  readonly instruction: string;
  readonly model: string | null;
  readonly outcome: Outcome;
  /** Null where the record judges nothing: the events' own end holds then. */
  readonly signal: string | null;
}

/** Reads what OpenHands' evaluation scripts (V0 `evaluation/`, V1 `benchmarks`) write around a history of events. */
function benchmarkRun(record: JsonObject): BenchmarkRun {
  const metadata = objectOrEmpty(record.metadata);
  const { outcome, outcomeSignal: signal } = verdictOf(record);
  const failed = signal === null && stringOrNull(record.error) !== null;
  return {
    instance: isString(record.instance_id) || typeof record.instance_id === "number" ? String(record.instance_id) : null,
    instruction: isString(record.instruction) ? record.instruction : "",
    model: stringOrNull(objectOrEmpty(metadata.llm_config ?? metadata.llm).model),
    ...(failed ? ({ outcome: "failure", signal: "error" } as const) : { outcome, signal }),
  };
}

interface Told {
  readonly id?: string | null;
  readonly model: string | null;
  readonly folder?: unknown;
  /** What the recording says about its end. */
  readonly signal: string | null;
  readonly tools: readonly ToolDefinition[];
  readonly talk: Pick<Transcript, "steps" | "dropped">;
}

/** The conversation of a document: of a benchmark's run with its instruction, where no turn holds it, and its verdict. */
export function runDraft(document: JsonObject, { id = null, model, folder, signal, tools, talk }: Told): Draft {
  const run = benchmarkRun(document);
  const made = talk.steps();
  const isAsked = run.instruction === "" || made.some((step) => step.source === "user");
  return draft({
    id,
    part: run.instance,
    agent: "openhands",
    model: model ?? run.model,
    facts: factsOf({ folder, remote: objectOrEmpty(document.instance).repo }),
    outcome: run.outcome,
    outcomeSignal: run.signal ?? signal,
    tools,
    steps: isAsked ? made : [{ source: "user", text: run.instruction }, ...made],
    dropped: talk.dropped.entries(),
  });
}
