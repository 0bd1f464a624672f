import { draft } from "../../draft.js";
import { DROPPED } from "../../dropped.js";
import { type Transcript, transcript } from "../../transcript.js";
import { joinBlocks } from "../../values/content-text.js";
import { isObject, type JsonObject, scalarText, stringOrNull } from "../../values/json.js";
import type { Output, Reader, RecordFormat } from "../format.js";
import { activeLines } from "./branches.js";
import { classifyUserText } from "./harness.js";
import { type LogLine, readLine, userText } from "./line.js";

/** Line types that other tools' logs do not have. */
const OWN_TYPES = new Set(["file-history-snapshot", "queue-operation", "permission-mode", "last-prompt", "ai-title"]);

function recognises(record: JsonObject): boolean {
  if (record.type === "user" || record.type === "assistant")
    return (
      isObject(record.message) && ["uuid", "parentUuid", "sessionId", "isSidechain"].some((key) => record[key] !== undefined)
    );
  return OWN_TYPES.has(scalarText(record.type)) && (record.sessionId !== undefined || record.messageId !== undefined);
}

/** A person's turn: no tool result, and not the harness's or a local command's text. */
const isWritten = (line: LogLine): boolean =>
  line.kind === "user" && line.left === null && line.results.length === 0 && classifyUserText(userText(line)).kind === "person";

function addUser(talk: Transcript, line: LogLine, isAnswered: () => boolean): void {
  for (const result of line.results) talk.observe(result);
  if (line.texts.length === 0) return;
  const said = classifyUserText(userText(line));
  if (said.kind === "person") {
    talk.dropped.add(DROPPED.harness, said.stripped);
    talk.say("user", said.text, line.timestamp);
  } else if (said.kind === "command" && isAnswered()) talk.say("user", said.text, line.timestamp);
  else talk.dropped.add(said.kind === "harness" ? DROPPED.harness : DROPPED.localCommand);
}

/** Whether the model answers the command in line `at`: local commands are followed by their own output or by a person. */
const answerFollows = (lines: readonly LogLine[], at: number): boolean =>
  lines.find((line, index) => index > at && line.kind !== "other" && line.left === null)?.kind === "assistant";

function addLines(talk: Transcript, lines: readonly LogLine[]): void {
  lines.forEach((line, at) => {
    if (line.left !== null) talk.dropped.add(line.left);
    if (line.left !== null && line.left !== DROPPED.harness) return;
    if (line.kind === "user") addUser(talk, line.left === null ? line : { ...line, texts: [] }, () => answerFollows(lines, at));
    if (line.kind === "assistant") {
      const { texts, calls, timestamp } = line;
      const part = { text: joinBlocks(texts), reasoning: joinBlocks(line.reasoning), calls, timestamp };
      talk.answer(part, line.messageId ?? undefined);
    }
  });
}

const heldLength = (line: LogLine): number =>
  [...line.texts, ...line.reasoning, ...line.calls.map((call) => call.arguments)].reduce((sum, text) => sum + text.length, 0);

function claudeCodeReader(output: Output): Reader<JsonObject> {
  const lines: LogLine[] = [];
  const uuids = new Set<string>();
  let repeated = 0;
  let version: string | null = null;
  let sessionId: string | null = null;
  let agentId: string | null = null;
  let model: string | null = null;

  return {
    accept: (record) => {
      const line = readLine(record, lines.length, output);
      if (line === null) return output.badRecord();
      if (line.kind !== "other") {
        version = stringOrNull(record.version) ?? version;
        sessionId = stringOrNull(record.sessionId) ?? sessionId;
        agentId = stringOrNull(record.agentId);
        if (line.kind === "assistant" && line.left === null && isObject(record.message))
          model = stringOrNull(record.message.model) ?? model;
      }
      if (line.uuid !== null && uuids.has(line.uuid)) {
        repeated += line.kind === "other" ? 0 : 1;
        return;
      }
      if (line.uuid !== null) uuids.add(line.uuid);
      output.hold(heldLength(line));
      lines.push(line);
    },
    finish: () => {
      const messages = lines.filter((line) => line.kind !== "other");
      const isSubAgent = messages.length > 0 && messages.every((line) => line.isSidechain);
      const own = isSubAgent ? lines : lines.filter((line) => !line.isSidechain);
      const { active, abandoned } = activeLines(own, isWritten);
      const talk = transcript();
      addLines(talk, active);
      talk.dropped.add(DROPPED.abandoned, abandoned.filter((line) => line.kind !== "other").length);
      talk.dropped.add(DROPPED.sidechain, isSubAgent ? 0 : messages.filter((line) => line.isSidechain).length);
      talk.dropped.add(DROPPED.duplicate, repeated);
      output.conversation(
        draft({
          id: isSubAgent && agentId !== null && sessionId !== null ? `${sessionId}-agent-${agentId}` : sessionId,
          formatVersion: version,
          agent: "claude-code",
          model,
          steps: talk.steps(),
          dropped: talk.dropped.entries(),
        }),
      );
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
