import type { Session, Step, ToolCall, TrainLoraSpec } from "@imprint/contracts";
import { type Canary, draw } from "./canaries.js";

/** Where a canary stands: `answer` and `call` are what the agent wrote, `request` and `output` what it was told. */
export interface Place {
  readonly session_id: string;
  readonly step: number;
  readonly place: "answer" | "call" | "request" | "output";
  /** The call or the output of the step; 0 for a text. */
  readonly index: number;
}

export interface Planted {
  readonly sessions: readonly Session[];
  /** Of each canary, in order. */
  readonly places: readonly Place[];
}

/** Arguments that hold what is run or written, not what is looked for. */
const WRITABLE = ["command", "cmd", "script", "code", "content", "file_text", "new_string", "new_str"];
const WRITTEN: readonly Place["place"][] = ["answer", "call"];
/** Where canaries go, in turn: every fourth is only read. */
const TURNS = [WRITTEN, WRITTEN, WRITTEN, ["request"], WRITTEN, WRITTEN, WRITTEN, ["output"]] as const;

type Arguments = Readonly<Record<string, unknown>>;

function argumentsOf(call: ToolCall): { readonly all: Arguments; readonly field: string } | null {
  try {
    const all: unknown = JSON.parse(call.arguments);
    if (typeof all !== "object" || all === null) return null;
    const field = WRITABLE.find((name) => typeof (all as Arguments)[name] === "string");
    return field === undefined ? null : { all: all as Arguments, field };
  } catch {
    return null;
  }
}

/** The agent's steps that a training with this selection can learn. */
function taught({ steps }: Session, trainOn: TrainLoraSpec["train_on"]): readonly number[] {
  const own = [...steps.keys()].filter((index) => steps[index]?.source === "agent" && steps[index].context_only === undefined);
  if (trainOn === "final_answer") return own.slice(-1);
  return typeof trainOn === "object" ? own.filter((index) => trainOn.turns.includes(index)) : own;
}

function placesOf(session: Session, trainOn: TrainLoraSpec["train_on"]): readonly Place[] {
  const { session_id, steps } = session;
  return taught(session, trainOn).flatMap((step): readonly Place[] => {
    const { text = "", tool_calls = [] } = steps[step] ?? {};
    const calls = [...tool_calls.entries()].filter(([, call]) => argumentsOf(call) !== null);
    return [
      ...(text.trim() === "" ? [] : [{ session_id, step, place: "answer", index: 0 } as const]),
      ...calls.map(([index]) => ({ session_id, step, place: "call", index }) as const),
      ...readBefore(session, step),
    ];
  });
}

/** What its window shows an answer: the latest request, and what the tools said right before. */
function readBefore({ session_id, steps }: Session, answer: number): readonly Place[] {
  const request = steps.slice(0, answer).findLastIndex(({ source }) => source === "user");
  const outputs = (steps[answer - 1]?.observations ?? []).map((_, index) => ({
    ...{ session_id, step: answer - 1, place: "output" as const, index },
  }));
  return [...(request < 0 ? [] : [{ session_id, step: request, place: "request" as const, index: 0 }]), ...outputs];
}

const lineOf = ({ before, value, after }: Canary): string => `\n${before}${value}${after}`;

function withLine(step: Step, { place, index }: Place, line: string): Step {
  if (place === "answer" || place === "request") return { ...step, text: step.text + line };
  if (place === "output") {
    const observations = (step.observations ?? []).map((one, at) =>
      at === index ? { ...one, content: one.content + line } : one,
    );
    return { ...step, observations };
  }
  const tool_calls = (step.tool_calls ?? []).map((call, at) => {
    const found = at === index ? argumentsOf(call) : null;
    if (found === null) return call;
    return { ...call, arguments: JSON.stringify({ ...found.all, [found.field]: `${found.all[found.field]}${line}` }) };
  });
  return { ...step, tool_calls };
}

/**
 * The sessions with each canary on a line of its own at the end of something that the agent wrote or, every fourth, of
 * something that it read. Null where the agent wrote nothing that is learned.
 */
export function plant({
  sessions,
  canaries,
  trainOn,
}: {
  readonly sessions: readonly Session[];
  readonly canaries: readonly Canary[];
  readonly trainOn: TrainLoraSpec["train_on"];
}): Planted | null {
  const all = sessions.flatMap((session) => placesOf(session, trainOn));
  const among = (allowed: readonly string[]): readonly Place[] => all.filter(({ place }) => allowed.includes(place));
  const written = among(WRITTEN);
  if (written.length === 0) return null;
  const places = canaries.map(({ id }, number) => {
    const wanted = among(TURNS[number % TURNS.length] ?? WRITTEN);
    const choice = wanted.length > 0 ? wanted : written;
    return choice[pick(id, choice.length)] as Place;
  });
  const planted = sessions.map((session) => ({
    ...session,
    steps: session.steps.map((step, index) =>
      places.reduce(
        (made, place, number) =>
          place.session_id === session.session_id && place.step === index
            ? withLine(made, place, lineOf(canaries[number] as Canary))
            : made,
        step,
      ),
    ),
  }));
  return { sessions: planted, places };
}

/** A number below `count`, the same for the same id. */
function pick(id: string, count: number): number {
  return Number(draw(`place of ${id}`, { length: 9, alphabet: "0123456789" })) % count;
}
