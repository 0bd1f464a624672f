import type { ToolDefinition } from "@imprint/contracts";
import { parentSession } from "../../draft.js";
import { DROPPED, unread } from "../../dropped.js";
import { factsOf } from "../../facts.js";
import { type Tally, tally } from "../../tally.js";
import { type Transcript, transcript } from "../../transcript.js";
import { joinBlocks } from "../../values/content-text.js";
import { isObject, isString, type JsonObject, objectOrEmpty, objectsOf, scalarText, stringOrNull } from "../../values/json.js";
import { recordedOnce } from "../../values/recorded-once.js";
import { mergeTools, toolDefinitions } from "../../values/tools.js";
import { handOver, type Output, type Reader, type RecordFormat } from "../format.js";
import { activeLines, type Log, type Place } from "./branches.js";
import { classifyUserText } from "./harness.js";
import { contentsOf, idsOf, isPrinted, type LogLine, readLine } from "./line.js";
import { type QueueLine, queuedRequests, queueLine } from "./queue.js";
import { addAnswer, behindResponses, responseKeys } from "./responses.js";

/** Line types that other tools' logs do not have. */
const OWN_TYPES = new Set(["file-history-snapshot", "queue-operation", "permission-mode", "last-prompt", "ai-title"]);

function recognises(record: JsonObject): boolean {
  if (record.type === "user" || record.type === "assistant")
    return (
      isObject(record.message) &&
      record.message.parts === undefined &&
      !isPrinted(record) &&
      ["uuid", "parentUuid", "sessionId", "isSidechain"].some((key) => record[key] !== undefined)
    );
  return OWN_TYPES.has(scalarText(record.type)) && (record.sessionId !== undefined || record.messageId !== undefined);
}

/** What the queue names has no place in the tree, and a result goes with its call. */
function placeOf(line: LogLine): Place {
  if (line.kind === "other") return "between";
  if (line.kind === "assistant" || line.queued === "named" || line.results.length > 0) return "end";
  if (line.left !== null) return line.left === DROPPED.harness ? "between" : "end";
  const { kind } = classifyUserText(line.text ?? "");
  return kind === "person" ? "request" : kind === "command" ? kind : "between";
}

function addUser(talk: Transcript, line: LogLine, isCommandAsked: () => boolean): void {
  for (const result of line.results) talk.observe(result);
  if (line.text === null) return;
  const said = classifyUserText(line.text);
  if (said.kind === "person") {
    talk.dropped.add(DROPPED.harness, said.stripped);
    talk.say("user", said.text, line.timestamp);
  } else if (said.kind === "command" && isCommandAsked()) talk.say("user", said.text, line.timestamp);
  else if (said.kind === "shell") talk.ran(said.text);
  else if (said.kind === "note") talk.note(line.text);
  else talk.dropped.add(said.kind === "harness" ? DROPPED.harness : DROPPED.localCommand);
}

/**
 * Whether the command in line `at` is the model's to answer: it does, or what the command stands for is written with it. Local
 * commands are followed by their own output or by a person.
 */
function isAsked(lines: readonly LogLine[], at: number): boolean {
  const written = lines[at]?.timestamp ?? null;
  for (let next = at + 1; ; next++) {
    const line = lines[next];
    if (line === undefined) return false;
    const { kind, left, timestamp } = line;
    if (kind !== "other" && left === null) return kind === "assistant";
    if (kind === "user" && left === DROPPED.harness && written !== null && timestamp === written) return true;
  }
}

function addLines(talk: Transcript, lines: readonly LogLine[]): void {
  const keys = responseKeys();
  const copies = lines.findLastIndex(({ isCopied }) => isCopied) + 1;
  lines.forEach((line, at) => {
    if (line.kind === "user" && line.results.length > 0) keys.result();
    if (line.left !== null) talk.dropped.add(line.left);
    const isRead = line.left === null || line.left === DROPPED.harness;
    if (line.kind === "user" && isRead)
      addUser(talk, line.left === null ? line : { ...line, text: null }, () => isAsked(lines, at));
    if (line.kind === "other" && line.text !== null) talk.ran(line.text);
    if (line.kind === "assistant" && isRead) addAnswer(talk, line, keys, line.timestamp);
    if (at === copies - 1) talk.markCopied();
  });
}

const heldLength = (line: LogLine): number =>
  line.calls.reduce((sum, call) => sum + call.arguments.length, (line.text?.length ?? 0) + line.reasoning.length);

interface Read extends Omit<Log, "isOwn"> {
  readonly queue: readonly QueueLine[];
  readonly left: Tally;
  readonly prompt: string;
}

/** The lines with what only the queue names, as a request where the model got it. */
function withQueued({ lines, queue, left }: Read): readonly LogLine[] {
  const { requests, unsent } = queuedRequests(queue, lines);
  left.add(DROPPED.unsent, unsent);
  left.add(unread("queue-operation"), queue.length - requests.size - unsent);
  if (requests.size === 0) return lines;
  return lines.map((line, at) => {
    const text = requests.get(at);
    return text === undefined ? line : { ...line, kind: "user", text, queued: "named" };
  });
}

function conversationOf(read: Read): { readonly talk: Transcript; readonly isSubAgent: boolean } {
  const messages = read.lines.filter((line) => line.kind !== "other");
  const isSubAgent = messages.length > 0 && messages.every((line) => line.isSidechain);
  const isOwn = (line: LogLine): boolean => isSubAgent || !line.isSidechain;
  const { active, abandoned } = activeLines({ ...read, lines: withQueued(read), isOwn }, placeOf);
  const talk = transcript();
  talk.say("system", read.prompt);
  addLines(talk, behindResponses(active));
  talk.dropped.add(DROPPED.abandoned, abandoned.filter((line) => line.kind !== "other").length);
  talk.dropped.add(DROPPED.sidechain, isSubAgent ? 0 : messages.filter((line) => line.isSidechain).length);
  return { talk, isSubAgent };
}

const emptyLog = () => ({
  lines: [] as LogLine[],
  parents: [] as (number | string | null)[],
  positions: new Map<string, number>(),
  queue: [] as QueueLine[],
  isNew: recordedOnce(contentsOf),
});

function claudeCodeReader(output: Output): Reader<JsonObject> {
  let log = emptyLog();
  const left = tally();
  let prompt = "";
  let tools: readonly ToolDefinition[] = [];
  let version: string | null = null;
  let sessionId: string | null = null;
  let agentId: string | null = null;
  let forkedFrom: string | null = null;
  /** When the queue says that the session began, where it does before the first answer: older forks mark no copies. */
  let began: string | null = null;
  let model: string | null = null;
  let folder: string | null = null;
  let branch: string | null = null;

  return {
    accept: (record) => {
      const line = readLine(record, log.lines.length, output);
      if (line === null) return output.badRecord();
      if (line.kind !== "other") {
        version = stringOrNull(record.version) ?? version;
        sessionId = stringOrNull(record.sessionId) ?? sessionId;
        agentId = stringOrNull(record.agentId);
        folder ??= stringOrNull(record.cwd);
        branch = stringOrNull(record.gitBranch) ?? branch;
        if (line.kind === "assistant" && line.left === null && isObject(record.message))
          model = stringOrNull(record.message.model) ?? model;
      }
      const { sessionId: source = record.requestSessionId } = objectOrEmpty(record.forkedFrom);
      if (line.isCopied) forkedFrom = stringOrNull(source) ?? forkedFrom;
      const { uuid, parent } = idsOf(record);
      if (record.type === "queue-operation") {
        began ??= line.timestamp;
        log.queue.push(queueLine(record, log.lines.length));
        // It has neither id nor parent, and follows what was written before it.
        log.parents.push(log.lines.length === 0 ? null : log.lines.length - 1);
        if (uuid !== null) log.positions.set(uuid, log.lines.length);
        log.lines.push(line);
        return;
      }
      const { type: attached, systemPrompt, cliPrefix, tools: told } = objectOrEmpty(record.attachment);
      if (attached === "prompt_snapshot") {
        prompt = joinBlocks([cliPrefix, systemPrompt].flat().filter(isString));
        tools = mergeTools(tools, toolDefinitions(objectsOf(told).map(({ schema }) => schema)));
      } else if (line.kind === "other" && line.text === null && record.subtype !== "compact_boundary")
        left.add(unread(record.type, record.subtype ?? attached));
      if (uuid !== null && !log.isNew(uuid, line)) return left.add(DROPPED.duplicate, line.kind === "other" ? 0 : 1);
      log.parents.push(parent === null ? null : (log.positions.get(parent) ?? (parent === uuid ? null : parent)));
      if (uuid !== null) log.positions.set(uuid, log.lines.length);
      output.hold(heldLength(line));
      if (line.kind === "assistant") began ??= "";
      const isEarlier = line.kind === "assistant" && (line.timestamp ?? "~") < (began ?? "");
      log.lines.push(isEarlier ? { ...line, isCopied: true } : line);
    },
    finish: () => {
      const { talk, isSubAgent } = conversationOf({ ...log, left, prompt });
      for (const [reason, count] of left.entries()) talk.dropped.add(reason, count);
      log = emptyLog(); // it is not needed any more, while the steps are made and searched
      handOver(output, talk, {
        id: isSubAgent && agentId !== null && sessionId !== null ? `${sessionId}-agent-${agentId}` : sessionId,
        formatVersion: version,
        agent: "claude-code",
        model,
        facts: factsOf({ folder, branch }),
        tools,
        parent: parentSession(isSubAgent ? sessionId : forkedFrom, isSubAgent ? "sub-agent" : "fork"),
      });
    },
  };
}

/** Claude Code: ~/.claude/projects/<project>/<session>.jsonl, and the files of its sub-agents. */
export const claudeCode: RecordFormat = {
  name: "claude-code",
  sign: "lines of type `user` and `assistant` with `message` and `uuid`",
  recognises,
  read: claudeCodeReader,
};
