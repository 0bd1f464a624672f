import type { ToolCall } from "@imprint/contracts";
import { DROPPED } from "../../dropped.js";
import { transcript } from "../../transcript.js";
import { contentText, joinBlocks } from "../../values/content-text.js";
import { isObject, isString, type JsonObject, objectOrEmpty, objectsOf, scalarText, stringOrNull } from "../../values/json.js";
import { argumentsText } from "../../values/tool-calls.js";
import { handOver, type Output, type Reader, type RecordFormat } from "../format.js";

/** Events that tell of what a later one tells in full. */
const PROGRESS = new Set(["item.updated", "item.plan.delta"]);
const NO_REQUEST = "[request not recorded]";

/** The item of an event; the first versions called its type otherwise. */
function itemOf({ item }: JsonObject): JsonObject {
  const held = objectOrEmpty(item);
  return held.item_type === undefined ? held : { ...held, type: held.item_type };
}

/** The call that an item stands for; null where it is none, or is not told in full. */
function callOf(item: JsonObject): Omit<ToolCall, "id"> | null {
  if (item.type === "command_execution" && isString(item.command))
    return { name: "command_execution", arguments: argumentsText({ command: item.command }) };
  if (item.type !== "mcp_tool_call" || !isString(item.tool)) return null;
  return { name: `mcp__${scalarText(item.server)}__${item.tool}`, arguments: argumentsText(item.arguments) };
}

/** What came back; null where the item does not hold it. */
function resultOf(item: JsonObject): string | null {
  if (item.type === "command_execution") return isString(item.aggregated_output) ? item.aggregated_output : null;
  const error = stringOrNull(objectOrEmpty(item.error).message);
  return error ?? (isObject(item.result) ? contentText(item.result.content) : null);
}

const hasFailed = ({ status, exit_code }: JsonObject): boolean =>
  status === "failed" || status === "declined" || (typeof exit_code === "number" && exit_code !== 0);

/** The stream tells which files were written, and not the patch. */
const changeText = (item: JsonObject): string =>
  ["file change:", ...objectsOf(item.changes).map(({ kind, path }) => `${scalarText(kind)} ${scalarText(path)}`)].join(" ");

function execReader(output: Output): Reader<JsonObject> {
  const talk = transcript(output.hold);
  const begun = new Set<string>();
  let thread: string | null = null;
  let signal: string | null = null;
  let reasoning = "";
  let key: string | undefined;
  let turns = 0;

  const idOf = (item: JsonObject): string => `${turns}-${scalarText(item.id)}`;
  /** Whether the item is a call, whose answer then stands. */
  const begin = (item: JsonObject): boolean => {
    const call = callOf(item);
    const id = idOf(item);
    if (call === null || begun.has(id)) return call !== null;
    begun.add(id);
    // A call that follows a message is of the same answer.
    talk.answer({ reasoning, calls: [{ id, ...call }] }, key ?? id);
    reasoning = "";
    return true;
  };
  const endCall = (item: JsonObject): void => {
    const result = { call_id: idOf(item), ...(hasFailed(item) && { is_error: true }) };
    const content = resultOf(item);
    talk.observe({ ...result, content: content === null ? null : output.fit(content) });
    key = undefined;
  };
  const end = (item: JsonObject): void => {
    const { type } = item;
    if (begin(item)) endCall(item);
    else if (type === "agent_message" || type === "assistant_message" || type === "plan") {
      key = idOf(item);
      talk.answer({ text: scalarText(item.text), reasoning }, key);
      reasoning = "";
    } else if (type === "reasoning") reasoning = joinBlocks([reasoning, scalarText(item.text)]);
    else if (type === "file_change") talk.partialCall(changeText(item));
    else if (type === "web_search") talk.dropped.add(DROPPED.providerCall);
    else if (type === "collab_tool_call") talk.dropped.add(DROPPED.sidechain);
    else if (isString(type)) talk.dropped.add(DROPPED.environment);
    else output.badRecord();
  };

  return {
    accept: (event) => {
      const { type } = event;
      const item = itemOf(event);
      if (type === "thread.started" || type === "session.created") thread ??= stringOrNull(event.thread_id ?? event.session_id);
      else if (type === "turn.started") {
        turns++;
        key = undefined;
        talk.say("user", NO_REQUEST);
      } else if (type === "turn.completed" || type === "turn.failed" || type === "error") signal = type;
      else if (type === "item.started") begin(item);
      else if (type === "item.completed") end(item);
      else if (!PROGRESS.has(scalarText(type))) talk.dropped.add(DROPPED.environment);
    },
    finish: () => {
      output.warn(
        `The output of codex exec does not hold what was asked for: ${thread === null ? "the rollout" : `the rollout *-${thread}.jsonl`} under ~/.codex/sessions does.`,
      );
      handOver(output, talk, { id: thread, agent: "codex", outcomeSignal: signal });
    },
  };
}

/** What `codex exec --json` prints: the run's items as they begin and end, without the request, the model and its patches. */
export const codexExec: RecordFormat = {
  name: "codex-exec",
  sign: "events such as `thread.started` and `item.completed` with an `item`",
  recognises: (event) =>
    (event.type === "thread.started" && isString(event.thread_id)) ||
    (/^item\.(?:started|updated|completed)$/.test(scalarText(event.type)) && isString(itemOf(event).type)),
  read: execReader,
};
