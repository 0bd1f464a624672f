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
  readonly texts: string[];
  readonly reasonings: string[];
  readonly calls: Map<string, ToolCall>;
  readonly observations: Observation[];
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
  /** Forgets the last `count` user turns and all that followed them. */
  rollBack(count: number): void;
  /** Ids of the last answer's calls that have no result yet. */
  openCalls(): string[];
  hasAnswer(): boolean;
  steps(): Step[];
}

const partLength = ({ text = "", reasoning = "", calls = [] }: AgentPart): number =>
  text.length + reasoning.length + calls.reduce((sum, call) => sum + call.arguments.length, 0);

const blankTurn = (): AgentTurn => ({
  source: "agent",
  texts: [],
  reasonings: [],
  calls: new Map(),
  observations: [],
  contextOnly: undefined,
  timestamp: null,
});

function addPart(turn: AgentTurn, part: AgentPart): void {
  if (part.text !== undefined && !turn.texts.includes(part.text)) turn.texts.push(part.text);
  if (part.reasoning !== undefined && !turn.reasonings.includes(part.reasoning)) turn.reasonings.push(part.reasoning);
  for (const call of part.calls ?? []) if (!turn.calls.has(call.id)) turn.calls.set(call.id, call);
  turn.contextOnly ??= part.contextOnly;
  turn.timestamp ??= timestampOrNull(part.timestamp);
}

function finishTurn(turn: Turn): Step | null {
  const stamp = turn.timestamp === null ? {} : { timestamp: turn.timestamp };
  if (turn.source !== "agent") return { source: turn.source, text: turn.text, ...stamp };
  const text = joinBlocks(turn.texts);
  const reasoning = joinBlocks(turn.reasonings);
  const { observations } = turn;
  if (text === "" && reasoning === "" && turn.calls.size === 0 && observations.length === 0) return null;
  return {
    source: "agent",
    text,
    ...(reasoning === "" ? {} : { reasoning }),
    ...(turn.calls.size === 0 ? {} : { tool_calls: [...turn.calls.values()] }),
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
    observe: (observation, { idsRepeat = false } = {}) => {
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
      turn.observations.push(observation);
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
      return [...turn.calls.keys()].filter((id) => !answered.has(id));
    },
    hasAnswer: () => lastAnswer() !== undefined,
    steps: () => {
      const steps = turns.map(finishTurn);
      dropped.add(DROPPED.empty, steps.filter((step) => step === null).length);
      return steps.filter((step) => step !== null);
    },
  };
}
