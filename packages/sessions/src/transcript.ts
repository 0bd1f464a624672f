import type { Observation, Step, ToolCall } from "@imprint/contracts";
import { DROPPED } from "./dropped.js";
import { type Tally, tally } from "./tally.js";
import { joinBlocks } from "./values/content-text.js";
import { timestampOrNull } from "./values/timestamp.js";

type ContextOnly = NonNullable<Step["context_only"]>;

export interface AgentPart {
  readonly text?: string | undefined;
  readonly reasoning?: string | undefined;
  readonly calls?: readonly ToolCall[] | undefined;
  readonly contextOnly?: ContextOnly | undefined;
  readonly timestamp?: unknown;
}

interface AgentTurn {
  readonly source: "agent";
  texts: string[];
  reasonings: string[];
  calls: ToolCall[];
  /** The ids of the calls, once they are more than a few: a search among them would be quadratic. */
  callIds: Set<string> | undefined;
  observations: Observation[];
  contextOnly: ContextOnly | undefined;
  timestamp: string | null;
}
type Turn = AgentTurn | { readonly source: "system" | "user"; readonly text: string; readonly timestamp: string | null };

/** Gathers the turns of one conversation in order, and puts each tool result to its call. */
export interface Transcript {
  readonly dropped: Tally;
  say(source: "system" | "user", text: string, timestamp?: unknown): void;
  /** Starts a turn of the model, or continues the one that was given the same key before. */
  answer(part: AgentPart, key?: string): void;
  /** A result for the latest call of that id; without such a call it stands on the nearest earlier answer. */
  observe(observation: Observation, options?: { readonly idsRepeat?: boolean }): void;
  /** A call that ended, whose result the recording does not hold: what follows is learned under these words, not under an empty result. */
  unrecorded(result: Omit<Observation, "content">): void;
  /** A call whose arguments the recording does not hold: what it did stands as context, and no call is learned. */
  partialCall(done: string): void;
  /** Forgets the last `count` user turns and all that followed them. */
  rollBack(count: number): void;
  /** Ids of the last answer's calls that have no result yet. */
  openCalls(): string[];
  hasAnswer(): boolean;
  steps(): Step[];
}

/** What stands in the place of a result that the recording does not hold. */
export const NOT_RECORDED = "[result not recorded]";

const partLength = ({ text = "", reasoning = "", calls = [] }: AgentPart): number =>
  text.length + reasoning.length + calls.reduce((sum, call) => sum + call.arguments.length, 0);

/** One list for all that are empty, and the number of calls that are searched without an index. */
const NONE: never[] = [];
const FEW = 8;

const blankTurn = (): AgentTurn => ({
  source: "agent",
  texts: NONE,
  reasonings: NONE,
  calls: NONE,
  callIds: undefined,
  observations: NONE,
  contextOnly: undefined,
  timestamp: null,
});

/** The list with one more. A first list has exactly its length: one that is pushed to has room for seventeen, in every turn. */
function withOne<Item>(items: Item[], item: Item): Item[] {
  if (items.length === 0) return [item];
  items.push(item);
  return items;
}

function addCall(turn: AgentTurn, call: ToolCall): void {
  if (turn.callIds?.has(call.id) ?? turn.calls.some(({ id }) => id === call.id)) return;
  turn.calls = withOne(turn.calls, call);
  if (turn.callIds !== undefined) turn.callIds.add(call.id);
  else if (turn.calls.length > FEW) turn.callIds = new Set(turn.calls.map(({ id }) => id));
}

function addPart(turn: AgentTurn, part: AgentPart): void {
  const { text = "", reasoning = "" } = part;
  if (text !== "" && !turn.texts.includes(text)) turn.texts = withOne(turn.texts, text);
  if (reasoning !== "" && !turn.reasonings.includes(reasoning)) turn.reasonings = withOne(turn.reasonings, reasoning);
  for (const call of part.calls ?? []) addCall(turn, call);
  turn.contextOnly ??= part.contextOnly;
  turn.timestamp ??= timestampOrNull(part.timestamp);
}

function finishTurn(turn: Turn): Step | null {
  const stamp = turn.timestamp === null ? {} : { timestamp: turn.timestamp };
  if (turn.source !== "agent") return { source: turn.source, text: turn.text, ...stamp };
  const text = joinBlocks(turn.texts);
  const reasoning = joinBlocks(turn.reasonings);
  const { calls, observations } = turn;
  if (text === "" && reasoning === "" && calls.length === 0 && observations.length === 0) return null;
  return {
    source: "agent",
    text,
    ...(reasoning === "" ? {} : { reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(observations.length === 0 ? {} : { observations }),
    ...(turn.contextOnly === undefined ? {} : { context_only: turn.contextOnly }),
    ...stamp,
  };
}

/** @param hold told the length of all text that is kept, except observations (see `Output.fit`). */
export function transcript(hold: (length: number) => void = () => {}): Transcript {
  const dropped = tally();
  let turns: Turn[] = [];
  const byKey = new Map<string, AgentTurn>();
  const byCall = new Map<string, AgentTurn>();
  const lastAnswer = (): AgentTurn | undefined => turns.findLast((turn): turn is AgentTurn => turn.source === "agent");

  const start = (): AgentTurn => {
    const turn = blankTurn();
    turns.push(turn);
    return turn;
  };

  const observe: Transcript["observe"] = (observation, { idsRepeat = false } = {}) => {
    const id = observation.call_id;
    const caller = id === null ? undefined : byCall.get(id);
    const known = caller?.observations.some((earlier) => earlier.call_id === id) ?? false;
    if (known && !idsRepeat) return dropped.add(DROPPED.repeatedResult);
    let turn = caller ?? lastAnswer();
    if (turn === undefined) {
      turn = start();
      turn.contextOnly = "synthetic";
    }
    if (id !== null && caller === undefined && !idsRepeat) byCall.set(id, turn);
    turn.observations = withOne(turn.observations, observation);
  };

  return {
    dropped,
    say: (source, text, timestamp) => {
      hold(text.length);
      if (text.trim() !== "") turns.push({ source, text, timestamp: timestampOrNull(timestamp) });
    },
    answer: (part, key) => {
      const turn = (key === undefined ? undefined : byKey.get(key)) ?? start();
      if (key !== undefined) byKey.set(key, turn);
      addPart(turn, part);
      hold(partLength(part));
      for (const call of part.calls ?? []) byCall.set(call.id, turn);
    },
    observe,
    unrecorded: (result) => {
      dropped.add(DROPPED.unrecordedResult);
      observe({ ...result, content: NOT_RECORDED });
    },
    partialCall: (done) => {
      dropped.add(DROPPED.partialCall);
      observe({ call_id: null, content: `[${done}]` });
    },
    rollBack: (count) => {
      const users = turns.flatMap((turn, index) => (turn.source === "user" ? [index] : []));
      const from = users[Math.max(0, users.length - count)];
      if (count <= 0 || from === undefined) return;
      dropped.add(DROPPED.abandoned, turns.length - from);
      turns = turns.slice(0, from);
    },
    openCalls: () => {
      const turn = lastAnswer();
      if (turn === undefined) return [];
      const answered = new Set(turn.observations.map((observation) => observation.call_id));
      return turn.calls.map(({ id }) => id).filter((id) => !answered.has(id));
    },
    hasAnswer: () => lastAnswer() !== undefined,
    steps: () => {
      const steps = turns.map(finishTurn);
      dropped.add(DROPPED.empty, steps.filter((step) => step === null).length);
      return steps.filter((step) => step !== null);
    },
  };
}
