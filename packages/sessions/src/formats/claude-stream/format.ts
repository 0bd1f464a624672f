import type { ToolDefinition } from "@imprint/contracts";
import { DROPPED, unread } from "../../dropped.js";
import { factsOf } from "../../facts.js";
import { transcript } from "../../transcript.js";
import { arrayOrEmpty, isObject, isString, type JsonObject, stringOrNull } from "../../values/json.js";
import { digest, recordedOnce } from "../../values/recorded-once.js";
import { toolDefinitions } from "../../values/tools.js";
import { classifyUserText } from "../claude-code/harness.js";
import { contentsOf, isPrinted, type LogLine, readLine } from "../claude-code/line.js";
import { addAnswer, responseKeys } from "../claude-code/responses.js";
import { handOver, type Output, type Reader, type RecordFormat } from "../format.js";

const NO_TASK =
  "The request is not in the recording, so nothing can be learned from it: `claude -p` prints the answers only. " +
  "Bring the session's own file under ~/.claude/projects or ~/.qwen/projects, or print with --replay-user-messages.";

/** Older and other builds name their tools only, newer ones describe them. */
const toolsOf = (listed: unknown): readonly ToolDefinition[] =>
  arrayOrEmpty(listed).flatMap((tool) => (isString(tool) && tool !== "" ? [{ name: tool }] : toolDefinitions([tool])));

const agentOf = (init: JsonObject): string => ("qwen_code_version" in init ? "qwen-code" : "claude-code");

function claudeStreamReader(output: Output): Reader<JsonObject> {
  const talk = transcript(output.hold);
  const keys = responseKeys();
  const isNew = recordedOnce<string>((contents) => contents);
  const asked = new Set<string>();
  let init: JsonObject = {};
  let sessionId: string | null = null;
  let model: string | null = null;
  let signal: string | null = null;
  let lines = 0;

  const addUser = (record: JsonObject, { results, text, left }: LogLine, timestamp: unknown): void => {
    for (const result of results) talk.observe(result);
    if (results.length > 0) keys.result();
    if (text === null) return;
    const said = classifyUserText(text);
    // A request that came from outside is printed once more when it is taken up.
    if (record.isReplay === true && asked.has(text)) talk.dropped.add(DROPPED.duplicate);
    else if (left !== null || record.isSynthetic === true) talk.dropped.add(left ?? DROPPED.harness);
    else if (said.kind === "note") talk.note(output.fit(text));
    else if (said.kind === "harness") talk.dropped.add(DROPPED.harness);
    else if (said.kind !== "person" && said.kind !== "command") talk.dropped.add(DROPPED.localCommand);
    else {
      asked.add(text);
      talk.say("user", said.text, timestamp);
    }
  };
  const addMessage = (record: JsonObject): void => {
    const line = readLine(record, lines++, output);
    const timestamp = record.timestamp ?? record._audit_timestamp;
    const id = stringOrNull(record.uuid);
    if (line === null) output.badRecord();
    else if (id !== null && !isNew(id, digest(contentsOf(line)))) talk.dropped.add(DROPPED.duplicate);
    // What a sub-agent was told, did and was answered stands between the lines of the run that asked for it.
    else if (isString(record.parent_tool_use_id)) talk.dropped.add(DROPPED.sidechain);
    else if (line.kind === "user") addUser(record, line, timestamp);
    else if (line.left !== null) talk.dropped.add(line.left);
    else {
      if (isObject(record.message)) model = stringOrNull(record.message.model) ?? model;
      addAnswer(talk, line, keys, timestamp);
    }
  };

  return {
    accept: (record) => {
      const { type, subtype } = record;
      if (type === "user" || type === "assistant") {
        sessionId ??= stringOrNull(record.session_id);
        signal = null;
        addMessage(record);
      } else if (type === "system" && subtype === "init") {
        if (init.session_id === undefined) init = record;
      } else if (type === "result") signal = stringOrNull(subtype);
      else if (type === "system" && subtype === "compact_boundary") talk.dropped.add(DROPPED.compactSummary);
      else talk.dropped.add(unread(type, subtype));
    },
    finish: () => {
      if (asked.size === 0) output.warn(NO_TASK);
      handOver(output, talk, {
        id: stringOrNull(init.session_id) ?? sessionId,
        formatVersion: stringOrNull(init.claude_code_version) ?? stringOrNull(init.qwen_code_version),
        agent: agentOf(init),
        model: model ?? stringOrNull(init.model),
        facts: factsOf({ folder: init.cwd }),
        outcomeSignal: signal,
        tools: toolsOf(init.tools),
      });
    },
  };
}

function recognises(record: JsonObject): boolean {
  if (!isPrinted(record)) return false;
  // The last line, which is all that other output formats print.
  if (record.type === "result") return isString(record.subtype);
  if (record.type === "system") return record.subtype === "init" && Array.isArray(record.tools);
  if ("parent_tool_use_id" in record || "_audit_timestamp" in record) return isString(record.type);
  return record.type === "assistant" && isObject(record.message) && "usage" in record.message;
}

/** What `claude -p --output-format stream-json` prints, and Cowork's `audit.jsonl`, which keeps it. */
export const claudeStream: RecordFormat = {
  name: "claude-stream",
  sign: "lines of type `user` and `assistant` with `message`, `session_id` and `parent_tool_use_id`",
  recognises,
  read: claudeStreamReader,
};
