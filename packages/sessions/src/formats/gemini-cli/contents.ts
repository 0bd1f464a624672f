import { draft } from "../../draft.js";
import { DROPPED } from "../../dropped.js";
import { transcript } from "../../transcript.js";
import { geminiParts } from "../../values/gemini-parts.js";
import { isObject, type JsonObject, objectsOf } from "../../values/json.js";
import type { Output } from "../format.js";
import { isHarness } from "./harness.js";

const isContent = (value: unknown): boolean =>
  isObject(value) && (value.role === "user" || value.role === "model") && Array.isArray(value.parts);

/** The history of a saved checkpoint: contents of the Gemini API, bare or beside what the screen showed. */
export function contentsOf(record: JsonObject): readonly JsonObject[] | null {
  const lists = [record.messages, record.clientHistory, record.history];
  const found = lists.find((list) => Array.isArray(list) && list.length > 0 && list.every(isContent));
  return found === undefined ? null : objectsOf(found);
}

export function readContents(contents: readonly JsonObject[], output: Output): void {
  const talk = transcript(output.hold);
  let key = "";
  /** The model's word to the harness is the harness's too. */
  let isSetUp = false;
  contents.forEach((content, index) => {
    const { text, reasoning, calls, results } = geminiParts(content.parts, `call-${index}`);
    if (content.role === "model") {
      if (isSetUp && calls.length === 0) talk.dropped.add(DROPPED.harness);
      else talk.answer({ text, reasoning, calls }, key || `answer-${index}`);
      key ||= isSetUp ? "" : `answer-${index}`;
    } else {
      key = "";
      for (const result of results) {
        const call_id = result.call_id ?? talk.openCalls()[0] ?? `result-${index}`;
        talk.observe({ ...result, call_id, content: output.fit(result.content) });
      }
      if (isHarness(text)) talk.dropped.add(DROPPED.harness);
      else talk.say("user", text);
    }
    isSetUp = content.role === "user" && isHarness(text);
  });
  output.conversation(draft({ agent: "gemini-cli", steps: talk.steps(), dropped: talk.dropped.entries() }));
}
