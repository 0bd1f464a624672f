import type { Observation } from "@imprint/contracts";
import { parentSession } from "../../draft.js";
import { DROPPED, unread } from "../../dropped.js";
import { factsOf } from "../../facts.js";
import { type Transcript, transcript } from "../../transcript.js";
import { type GeminiParts, geminiParts } from "../../values/gemini-parts.js";
import { arrayOrEmpty, isObject, isString, type JsonObject, objectOrEmpty, scalarText, stringOrNull } from "../../values/json.js";
import { recordedOnce } from "../../values/recorded-once.js";
import { handOver, type Output, type Reader, type RecordFormat } from "../format.js";
import { isHarness } from "../gemini-cli/harness.js";
import { activeBranch } from "../pi/branch.js";

const MESSAGES = new Set(["user", "assistant", "tool_result"]);
/** User records that a person wrote; a sub-agent's opening is its parent's. */
const REQUESTS = new Set(["", "mid_turn_user_message", "realtime_message", "agent_launch_prompt"]);
/** Records of the tool that are counted as what they are. */
const COUNTED = new Set(["chat_compression", "slash_command", "agent_bootstrap"]);
const OWN_PART = /^\s*<(?:qwen:|system-reminder>)/;

/** A record with only what the session needs of it, in the shape in which branches are followed. */
type Line = {
  readonly type: "message" | "rewind" | "other";
  readonly id: string;
  /** Its own, also where ids repeat. */
  readonly key: string;
  readonly parentId: string | null;
  readonly kind: string;
  readonly subtype: string;
  readonly provenance: string;
  readonly isSidechain: boolean;
  /** Taken over from the session that this one forks. */
  readonly isCopied: boolean;
  readonly timestamp: unknown;
  parts: readonly GeminiParts[];
};

/** A person's parts without those that the tool put beside them. */
const ownParts = (parts: readonly unknown[]): readonly unknown[] =>
  parts.filter((part) => !(isObject(part) && isString(part.text) && OWN_PART.test(part.text)));

function readParts(record: JsonObject, index: number, output: Output): GeminiParts {
  const parts = arrayOrEmpty(objectOrEmpty(record.message).parts);
  const read = geminiParts(record.type === "user" ? ownParts(parts) : parts, `call-${index}`);
  output.hold(read.text.length + read.reasoning.length);
  const { callId, status } = objectOrEmpty(record.toolCallResult);
  const failed = status === "error" || status === "cancelled";
  const results = read.results.map(
    (result): Observation => ({
      call_id: result.call_id ?? stringOrNull(callId),
      content: output.fit(result.content),
      ...(failed || result.is_error === true ? { is_error: true } : {}),
    }),
  );
  return { ...read, results };
}

function readLine(record: JsonObject, index: number, output: Output): Line {
  const [kind, subtype] = [scalarText(record.type), scalarText(record.subtype)];
  const isMessage = MESSAGES.has(kind);
  return {
    type: isMessage ? "message" : subtype === "rewind" ? "rewind" : "other",
    id: stringOrNull(record.uuid) ?? `line-${index}`,
    key: `line-${index}`,
    parentId: stringOrNull(record.parentUuid),
    kind,
    subtype,
    provenance: scalarText(record.provenance),
    isSidechain: record.isSidechain === true,
    isCopied: isObject(record.forkedFrom),
    timestamp: record.timestamp,
    parts: isMessage ? [readParts(record, index, output)] : [],
  };
}

function addLine(talk: Transcript, line: Line): void {
  const { kind, subtype, provenance, timestamp, key } = line;
  for (const { text, reasoning, calls, results } of line.parts) {
    if (kind === "assistant") talk.answer({ text, reasoning, calls, timestamp }, key);
    for (const result of results) talk.observe({ ...result, call_id: result.call_id ?? talk.openCalls()[0] ?? null });
    if (kind !== "user" || text.trim() === "") continue;
    const isOwn = !REQUESTS.has(subtype) || !["", "real_user"].includes(provenance) || isHarness(text);
    if (subtype === "notification") talk.note(text);
    else if (isOwn) talk.dropped.add(DROPPED.harness);
    else talk.say("user", text, timestamp);
  }
  if (subtype === "chat_compression") talk.dropped.add(DROPPED.compactSummary);
  if (subtype === "slash_command") talk.dropped.add(DROPPED.localCommand);
  if (subtype === "agent_bootstrap") talk.dropped.add(DROPPED.copied);
  if (line.type === "other" && !COUNTED.has(subtype)) talk.dropped.add(unread(kind, subtype));
}

function qwenReader(output: Output): Reader<JsonObject> {
  const lines: Line[] = [];
  const talk = transcript();
  const isNew = recordedOnce<Line>(({ kind, subtype, parts }) => [kind, subtype, parts]);
  let session: JsonObject = {};
  let model: string | null = null;
  let forkedFrom: string | null = null;

  return {
    accept: (record) => {
      if (MESSAGES.has(scalarText(record.type)) && !isObject(record.message) && record.toolCallResult === undefined)
        return output.badRecord();
      const { sessionId, version, agentId } = record;
      const { cwd = record.cwd } = session;
      if (isString(sessionId))
        session = {
          sessionId,
          version: version ?? session.version,
          agentId,
          cwd,
          gitBranch: record.gitBranch ?? session.gitBranch,
        };
      forkedFrom ??= stringOrNull(objectOrEmpty(record.forkedFrom).sessionId);
      if (record.type === "assistant") model = stringOrNull(record.model) ?? model;
      const line = readLine(record, lines.length, output);
      const last = lines.at(-1);
      if (!isNew(line.id, line)) talk.dropped.add(DROPPED.duplicate);
      // Records of one uuid in a row are the parts of one message.
      else if (last?.id === line.id && last.kind === line.kind) last.parts = [...last.parts, ...line.parts];
      else lines.push(line);
    },
    finish: () => {
      // Notes of the tool at the end can stand outside the conversation's chain.
      const notes = lines.splice(lines.findLastIndex(({ type }) => type !== "other") + 1);
      for (const { kind, subtype } of notes) talk.dropped.add(unread(kind, subtype));
      const { active, abandoned } = activeBranch(lines);
      const messages = active.filter(({ type }) => type === "message");
      const isSubAgent = messages.length > 0 && messages.every(({ isSidechain }) => isSidechain);
      const copies = active.findLastIndex(({ isCopied }) => isCopied) + 1;
      active.forEach((line, at) => {
        if (line.isSidechain && !isSubAgent) talk.dropped.add(DROPPED.sidechain, line.type === "message" ? 1 : 0);
        else addLine(talk, line);
        if (at === copies - 1) talk.markCopied();
      });
      talk.dropped.add(DROPPED.abandoned, abandoned);
      const id = stringOrNull(session.sessionId);
      const agentId = stringOrNull(session.agentId);
      handOver(output, talk, {
        id: isSubAgent && id !== null && agentId !== null ? `${id}-agent-${agentId}` : id,
        formatVersion: stringOrNull(session.version),
        agent: "qwen-code",
        model,
        facts: factsOf({ folder: session.cwd, branch: session.gitBranch }),
        parent: parentSession(isSubAgent ? id : forkedFrom, isSubAgent ? "sub-agent" : "fork"),
      });
    },
  };
}

/** Qwen Code: ~/.qwen/projects/<project>/chats/<session>.jsonl, and the files of its sub-agents. */
export const qwenCode: RecordFormat = {
  name: "qwen-code",
  sign: "lines with `uuid` and `sessionId` whose `message` has `parts`",
  recognises: (record) =>
    isString(record.uuid) &&
    isString(record.sessionId) &&
    (Array.isArray(objectOrEmpty(record.message).parts) || (record.type === "system" && isObject(record.systemPayload))),
  read: qwenReader,
};
