import type { Observation, Step, ToolCall } from "@imprint/contracts";
import { DROPPED } from "./dropped.js";
import { type Tally, tally } from "./tally.js";
import { joinBlocks } from "./values/content-text.js";
import { hasFailed } from "./values/failed.js";
import { holds, isRefusal, takenBack, wasEdited } from "./values/refused.js";
import { timestampOrNull } from "./values/timestamp.js";
import { withoutWrittenAgain } from "./written-again.js";

type ContextOnly = NonNullable<Step["context_only"]>;

export interface AgentPart {
  readonly text?: string | undefined;
  readonly reasoning?: string | undefined;
  readonly calls?: readonly ToolCall[] | undefined;
  readonly contextOnly?: ContextOnly | undefined;
  readonly timestamp?: unknown;
}

/** Different calls of one id. */
interface Twins {
  /** The id that each stands under, by its contents. */
  readonly byContents: Map<string, string>;
  /** Those ids, in the order of the calls. */
  readonly ids: string[];
  /** How many of them have a result. */
  results: number;
}

interface AgentTurn {
  readonly source: "agent";
  texts: string[];
  reasonings: string[];
  calls: ToolCall[];
  /** The calls by id, once they are more than a few: a search among them would be quadratic. */
  byId: Map<string, ToolCall> | undefined;
  /** Of an id that several calls were recorded with: what tells them apart. */
  twins: Map<string, Twins> | undefined;
  observations: Observation[];
  contextOnly: ContextOnly | undefined;
  timestamp: string | null;
}
interface OtherTurn {
  readonly source: "system" | "user";
  readonly text: string;
  contextOnly: ContextOnly | undefined;
  readonly timestamp: string | null;
}
type Turn = AgentTurn | OtherTurn;

/** What a tool answered; null where the recording does not hold it. */
type Result = Omit<Observation, "content"> & { readonly content: string | null };

/** Gathers the turns of one conversation in order, and puts each tool result to its call. */
export interface Transcript {
  readonly dropped: Tally;
  say(source: "system" | "user", text: string, timestamp?: unknown): void;
  /**
   * What a person ran, as a terminal shows it. It goes ahead of the next request, which often speaks of it; where the model goes on
   * before one it stands behind the last, is the environment's word, or all the request there is.
   */
  ran(shown: string): void;
  /**
   * Starts a turn of the model, or continues the one that was given the same key before. Answers the ids under which the
   * part's calls stand: of two different calls with one id the second gets another.
   */
  answer(part: AgentPart, key?: string): readonly string[];
  /**
   * A result for the latest call of that id, or of several in one turn for the first without any; without such a call it stands
   * on the nearest earlier answer. A `content` of null is a result that the recording does not hold: what follows is learned under
   * words that say so, not under an empty result. `isRefused` where the recording says so; otherwise its words are asked.
   */
  observe(result: Result, options?: { readonly idsRepeat?: boolean; readonly isRefused?: boolean | undefined }): void;
  /** What a task in the background or the tool itself tells the model: context of the last answer, and the tool's own before any. */
  note(text: string): void;
  /** A call whose arguments the recording does not hold: what it did stands as context, and no call is learned. */
  partialCall(done: string): void;
  /** How to say, later, that the person took back what the last answer did. */
  takingBack(): () => void;
  /** Forgets the last `count` user turns and all that followed them. */
  rollBack(count: number): void;
  /** All turns so far are another session's and context only; requests that no answer followed yet are not, where they are kept. */
  markCopied(options?: { readonly keepRequests?: boolean }): void;
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
  byId: undefined,
  twins: undefined,
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

const hasResult = ({ observations }: AgentTurn, id: string): boolean => observations.some(({ call_id }) => call_id === id);

const contents = ({ name, arguments: given }: ToolCall): string => `${name}\0${given}`;

const twinsOf = (first: ToolCall, turn: AgentTurn): Twins => ({
  byContents: new Map([[contents(first), first.id]]),
  ids: [first.id],
  results: hasResult(turn, first.id) ? 1 : 0,
});

/** Adds a call, unless the turn has it, and answers the id under which it stands. */
function addCall(turn: AgentTurn, call: ToolCall, dropped: Tally): string {
  const find = (id: string): ToolCall | undefined =>
    turn.byId === undefined ? turn.calls.find((one) => one.id === id) : turn.byId.get(id);
  const first = find(call.id);
  let added = call;
  if (first !== undefined) {
    turn.twins ??= new Map();
    const twins = turn.twins.get(call.id) ?? twinsOf(first, turn);
    const same = twins.byContents.get(contents(call));
    if (same !== undefined) {
      dropped.add(DROPPED.repeatedCall);
      return same;
    }
    for (let place = twins.ids.length + 1; find(added.id) !== undefined; place++) added = { ...call, id: `${call.id}-${place}` };
    twins.byContents.set(contents(call), added.id);
    twins.ids.push(added.id);
    turn.twins.set(call.id, twins);
  }
  turn.calls = withOne(turn.calls, added);
  if (turn.byId !== undefined) turn.byId.set(added.id, added);
  else if (turn.calls.length > FEW) turn.byId = new Map(turn.calls.map((one) => [one.id, one]));
  return added.id;
}

/** The call of a turn that the next result with this id answers; null where all have theirs. */
function nextCall(turn: AgentTurn, id: string): string | null {
  const twins = turn.twins?.get(id);
  if (twins === undefined) return hasResult(turn, id) ? null : id;
  return twins.ids[twins.results++] ?? null;
}

function addPart(turn: AgentTurn, part: AgentPart, dropped: Tally): readonly string[] {
  const { text = "", reasoning = "" } = part;
  if (turn.texts.includes(text)) dropped.add(DROPPED.repeatedText);
  else if (text !== "") turn.texts = withOne(turn.texts, text);
  if (reasoning !== "" && !turn.reasonings.includes(reasoning)) turn.reasonings = withOne(turn.reasonings, reasoning);
  const ids = part.calls?.map((call) => addCall(turn, call, dropped)) ?? NONE;
  turn.contextOnly ??= part.contextOnly;
  turn.timestamp ??= timestampOrNull(part.timestamp);
  return ids;
}

function finishTurn(turn: Turn): Step | null {
  const stamp = {
    ...(turn.contextOnly === undefined ? {} : { context_only: turn.contextOnly }),
    ...(turn.timestamp === null ? {} : { timestamp: turn.timestamp }),
  };
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
    ...stamp,
  };
}

/** @param hold told the length of all text that is kept, except observations (see `Output.fit`). */
export function transcript(hold: (length: number) => void = () => {}): Transcript {
  const dropped = tally();
  let turns: Turn[] = [];
  const ran: string[] = [];
  let [isPrompted, isAnswered] = [false, false];
  const byKey = new Map<string, AgentTurn>();
  const byCall = new Map<string, AgentTurn>();
  const lastAnswer = (): AgentTurn | undefined => turns.findLast((turn): turn is AgentTurn => turn.source === "agent");

  const start = (): AgentTurn => {
    const turn = blankTurn();
    turns.push(turn);
    isAnswered = true;
    return turn;
  };

  const observe: Transcript["observe"] = ({ content, ...result }, { idsRepeat = false, isRefused } = {}) => {
    if (content === null) dropped.add(DROPPED.unrecordedResult);
    const failed = result.is_error === undefined && content !== null && hasFailed(content);
    const observation = { ...result, content: content ?? NOT_RECORDED, ...(failed && { is_error: true }) };
    const id = observation.call_id;
    const caller = id === null ? undefined : byCall.get(id);
    const answered = caller === undefined || id === null ? id : nextCall(caller, id);
    if (id !== null && answered === null && !idsRepeat) return dropped.add(DROPPED.repeatedResult);
    let turn = caller ?? lastAnswer();
    if (turn === undefined) {
      turn = start();
      turn.contextOnly = "synthetic";
    }
    // What the person did not allow is no lesson; what the agent did instead is.
    if (isRefused ?? isRefusal(observation.content)) turn.contextOnly ??= "refused";
    else if (wasEdited(observation.content)) turn.contextOnly ??= "edited";
    if (id !== null && caller === undefined && !idsRepeat) byCall.set(id, turn);
    turn.observations = withOne(turn.observations, answered === id ? observation : { ...observation, call_id: answered ?? id });
  };

  const say: Transcript["say"] = (source, text, timestamp) => {
    hold(text.length);
    if (text.trim() === "") return;
    // What comes behind a request is no part of an earlier answer, whatever its key.
    if (source === "user") {
      byKey.clear();
      const no = takenBack(text);
      // Calls may hold whole files: they are read only where the words take something back.
      for (const turn of no.length === 0 ? [] : turns.slice(turns.findLastIndex((one) => one.source === "user") + 1))
        if (turn.source === "agent" && turn.calls.some((call) => holds(call.arguments, no))) turn.contextOnly ??= "refused";
    }
    const shown = source === "user" && ran.length > 0 ? `${ran.splice(0).join("\n")}\n\n` : "";
    const turn: Turn = { source, text: `${shown}${text}`, contextOnly: undefined, timestamp: timestampOrNull(timestamp) };
    // Some tools write down the prompt behind the first request, whose place is ahead of it.
    if (source === "user" || isPrompted || isAnswered) turns.push(turn);
    else turns.unshift(turn);
    isPrompted ||= source === "system";
  };

  return {
    dropped,
    say,
    ran: (shown) => {
      hold(shown.length);
      if (shown !== "") ran.push(shown);
    },
    answer: (part, key) => {
      if (ran.length > 0) {
        const shown = ran.splice(0).join("\n");
        const last = turns.at(-1);
        if (last?.source === "agent") observe({ call_id: null, content: shown });
        else if (last?.source === "user") turns.splice(-1, 1, { ...last, text: `${last.text}\n\n${shown}` });
        else say("user", shown, part.timestamp);
      }
      const turn = (key === undefined ? undefined : byKey.get(key)) ?? start();
      if (key !== undefined) byKey.set(key, turn);
      const ids = addPart(turn, part, dropped);
      hold(partLength(part));
      for (const call of part.calls ?? []) byCall.set(call.id, turn);
      for (const id of ids) byCall.set(id, turn);
      return ids;
    },
    observe,
    note: (text) => {
      if (isAnswered) observe({ call_id: null, content: text });
      else dropped.add(DROPPED.harness);
    },
    partialCall: (done) => {
      dropped.add(DROPPED.partialCall);
      observe({ call_id: null, content: `[${done}]` });
    },
    takingBack: () => {
      const turn = lastAnswer();
      return () => {
        if (turn !== undefined) turn.contextOnly ??= "refused";
      };
    },
    rollBack: (count) => {
      const users = turns.flatMap((turn, index) => (turn.source === "user" ? [index] : []));
      const from = users[Math.max(0, users.length - count)];
      if (count <= 0 || from === undefined) return;
      dropped.add(DROPPED.abandoned, turns.length - from);
      turns = turns.slice(0, from);
      isAnswered = lastAnswer() !== undefined;
    },
    markCopied: ({ keepRequests = false } = {}) => {
      const own = keepRequests ? turns.slice(turns.findLastIndex(({ source }) => source === "agent") + 1) : [];
      const copied = turns.slice(0, turns.length - own.length).filter(({ contextOnly }) => contextOnly !== "copied");
      for (const turn of copied) turn.contextOnly = "copied";
      dropped.add(DROPPED.copied, copied.length);
    },
    openCalls: () => {
      const turn = lastAnswer();
      if (turn === undefined) return [];
      const answered = new Set(turn.observations.map((observation) => observation.call_id));
      return turn.calls.map(({ id }) => id).filter((id) => !answered.has(id));
    },
    hasAnswer: () => isAnswered,
    steps: () => {
      dropped.add(DROPPED.localCommand, ran.splice(0).length);
      const made = turns.map(finishTurn);
      const steps = made.filter((step) => step !== null);
      dropped.add(DROPPED.empty, made.length - steps.length);
      const once = withoutWrittenAgain(steps);
      dropped.add(DROPPED.copied, steps.length - once.length);
      return [...once];
    },
  };
}
