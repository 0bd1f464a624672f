import { createHash, randomUUID } from "node:crypto";
import { type ChatMessage, type ChatTool, type ChatToolCall, isObject } from "@imprint/contracts";
import type { GatewayRecording } from "@imprint/sessions";
import type { Log } from "../../common/error.js";
import { createKeyedLock } from "../../common/keyed-lock.js";
import type { SessionStore } from "../../sessions/store.js";
import { type AnswerEvent, type AnswerPart, addTo, callsIn, textIn } from "../answer.js";
import { by, type Conversation } from "../conversation.js";
import { agentOf, asksToRecord, groupOf, type Headers } from "./requested.js";

const digest = (...parts: readonly string[]): string => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest("base64url");
};

type Tools = readonly ChatTool[];
type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Arguments in the order of their names, without those that say what the tool's schema has for them anyway. */
const settled = (args: object, tool: ChatTool | undefined): object => {
  const properties = fieldsOf(fieldsOf(tool?.parameters).properties);
  const told = Object.entries(args).filter(([name, value]) => !isSame(value, fieldsOf(properties[name]).default));
  return Object.fromEntries(told.sort(([one], [other]) => (one < other ? -1 : 1)));
};

const asWritten = ({ name, arguments: json }: ChatToolCall, tools: Tools): string => {
  try {
    const args: unknown = JSON.parse(json);
    return JSON.stringify(
      isObject(args)
        ? settled(
            args,
            tools.find((tool) => tool.name === name),
          )
        : args,
    );
  } catch {
    return json;
  }
};

/** Clients give an answer back with other ids, other spaces around its text, and its arguments written anew, with defaults. */
const asGivenBack = ({ role, content, tool_calls }: ChatMessage, tools: Tools): string => {
  const text = role === "assistant" ? content.replace(/\s+/g, " ").trim() : content;
  return JSON.stringify([role, text, tool_calls.map((call) => [call.name, asWritten(call, tools)])]);
};

/** Of a conversation that goes on with a message. */
const next = (before: string, message: ChatMessage, tools: Tools): string => digest(before, asGivenBack(message, tools));

/** What tells conversations apart, up to each of their messages: the first is of group and tools alone, the last of everything. */
const digestsOf = (group: string, tools: Tools, messages: readonly ChatMessage[]): readonly string[] => {
  const digests = [digest(group, JSON.stringify(tools))];
  for (const message of messages) digests.push(next(digests.at(-1) ?? "", message, tools));
  return digests;
};

/** Conversations that may go on; of more the ones that were silent longest start anew. */
const REMEMBERED = 10_000;

/** Makes sessions of conversations. One that grows from request to request is one session. */
export interface Recorder {
  /**
   * Takes the events of an answer; null where nobody asks to record it. Once the answer has ended, the conversation with it is stored
   * in the background; of an answer that was broken off nothing is. Throws ProblemError for headers that cannot be understood.
   */
  record(asked: Recorded): ((event: AnswerEvent) => void) | null;
  /** Waits for what is being stored. */
  close(): Promise<void>;
}

interface Recorded {
  readonly model: string;
  readonly conversation: Pick<Conversation, "messages" | "tools">;
  readonly headers: Headers;
}

interface Heard {
  readonly parts: readonly AnswerPart[];
  readonly startedAt: string;
  readonly agent: string | null;
  readonly group: string;
  readonly isCut: boolean;
}

/** What is known of a conversation beside its messages, which every request brings again. */
type Known = Pick<GatewayRecording, "session_id" | "started_at" | "answered" | "cut">;

interface Options {
  readonly sessions: Pick<SessionStore, "record">;
  /** Whether conversations are recorded that do not ask for it. */
  readonly always: boolean;
  readonly log: Log;
  readonly now: () => Date;
}

export const createRecorder = ({ sessions, always, log, now }: Options): Recorder => {
  /** By the digest of a conversation with its last answer. */
  const known = new Map<string, Known>();
  const lock = createKeyedLock();
  /** The newest state of each session that waits to be stored: the older ones are part of it. */
  const waiting = new Map<string, GatewayRecording>();
  const pending = new Set<Promise<void>>();

  const store = (recording: GatewayRecording): void => {
    const { session_id: id } = recording;
    waiting.set(id, recording);
    const storing = lock([id], async () => {
      if (waiting.get(id) !== recording) return;
      waiting.delete(id);
      await sessions.record(recording);
    })
      .catch((err: unknown) => log.error({ err, session_id: id }, "a conversation could not be recorded"))
      .finally(() => pending.delete(storing));
    pending.add(storing);
  };

  /** The conversation that these messages go on with: that with the longest beginning in common. */
  const earlier = (digests: readonly string[]): string | undefined => digests.findLast((digest) => known.has(digest));

  const remember = (digest: string, conversation: Known): void => {
    known.set(digest, conversation);
    const [oldest] = known.keys();
    if (known.size > REMEMBERED && oldest !== undefined) known.delete(oldest);
  };

  const keep = (
    { model, conversation: { messages, tools } }: Recorded,
    { parts, startedAt, agent, group, isCut }: Heard,
  ): void => {
    const answer = by.assistant(textIn(parts), callsIn(parts));
    const digests = digestsOf(group, tools, messages);
    const reached = next(digests.at(-1) ?? "", answer, tools);
    // The same words again, asked and answered, are the same session.
    const before = known.has(reached) ? reached : earlier(digests);
    const { session_id, started_at, answered, cut } = known.get(before ?? "") ?? {
      session_id: `${group}-${randomUUID()}`,
      started_at: startedAt,
      answered: [],
      cut: [],
    };
    if (before !== undefined) known.delete(before);
    const place = messages.length;
    const conversation = {
      session_id,
      started_at,
      answered: answered.includes(place) ? answered : [...answered, place],
      cut: isCut ? [...cut, place] : cut,
    };
    remember(reached, conversation);
    store({ recorded_by: "imprint", version: 1, agent, model, tools, messages: [...messages, answer], ...conversation });
  };

  return {
    record: (asked) => {
      const agent = agentOf(asked.headers);
      const group = groupOf(asked.headers);
      if (!(asksToRecord(asked.headers) ?? always)) return null;
      const startedAt = now().toISOString();
      const parts: AnswerPart[] = [];
      return (event) => {
        if (event.type === "end") keep(asked, { parts, startedAt, agent, group, isCut: event.end.reason === "length" });
        else addTo(parts, event);
      };
    },
    close: async () => {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
};
