import type { TSchema } from "typebox";
import { expect, test } from "vitest";
import { fieldErrors } from "../src/fields.js";
import { ChatRequest, FineTuningRequest, MessagesRequest, ResponsesRequest, TrainLoraRequest } from "../src/index.js";

const messages = [{ role: "user", content: "Hello." }];

/** A request of each API that fits, but for the fields given. */
const faces = {
  chat: [ChatRequest, { model: "m", messages }],
  responses: [ResponsesRequest, { model: "m", input: "Hello." }],
  messages: [MessagesRequest, { model: "m", max_tokens: 9, messages }],
  lora: [TrainLoraRequest, { session_id: "s" }],
  fineTuning: [FineTuningRequest, { model: "m", training_file: "f" }],
} as const satisfies Record<string, readonly [TSchema, object]>;

test.each<[face: keyof typeof faces, fields: object, ...sentence: string[]]>([
  // Of another kind than all alternatives: what may stand there.
  ["chat", { messages: [{ role: "user", content: 5 }] }, "/messages/0/content must be string or array"],
  ["chat", { stop: 5 }, "/stop must be string or array"],
  ["chat", { tools: "x" }, "/tools must be array"],
  ["chat", { tool_choice: "any" }, '/tool_choice must be one of "auto", "none", "required" or object'],
  ["responses", { input: 5 }, "/input must be string or array"],
  ["responses", { tool_choice: 5 }, '/tool_choice must be one of "auto", "none", "required" or object'],
  ["messages", { system: 5 }, "/system must be string or array"],
  ["messages", { container: "x" }, "/container must be null"],
  ["fineTuning", { hyperparameters: { n_epochs: "x" } }, '/hyperparameters/n_epochs must be "auto" or integer'],
  // Of the kind of one: what that one says.
  ["chat", { temperature: 3 }, "/temperature must be <= 2"],
  ["chat", { stop: ["a", "b", "c", "d", "e"] }, "/stop must not have more than 4 items"],
  ["chat", { stop: [1] }, "/stop/0 must be string"],
  ["lora", { holdout: 5 }, "/holdout must be <= 0.5"],
  ["lora", { train_on: {} }, "/train_on/turns is required"],
  [
    "messages",
    { messages: [{ role: "user", content: [{ type: "tool_result", content: 5 }] }] },
    "/messages/0/content/0/content must be string or array",
  ],
  // Of several by their type: what that of its type says.
  ["chat", { tools: [{ type: "function" }] }, "/tools/0/function is required"],
  ["chat", { response_format: { type: "json_schema" } }, "/response_format/json_schema is required"],
  [
    "responses",
    { tools: [{ type: "namespace", name: "x", tools: [{ type: "function" }] }] },
    "/tools/0/tools/0/name is required",
  ],
  ["responses", { input: [{ type: "function_call", name: 5 }] }, "/input/0/name must be string"],
  ["messages", { tools: [{ name: "x" }] }, "/tools/0/input_schema is required"],
  ["messages", { tool_choice: { type: "tool" } }, "/tool_choice/name is required"],
  // Of no type that is known: which there are.
  ["chat", { tools: [{}] }, "/tools/0/type is required"],
  ["responses", { text: { format: { type: "xml" } } }, '/text/format/type must be one of "text", "json_object", "json_schema"'],
  ["messages", { tool_choice: { type: "x" } }, '/tool_choice/type must be one of "auto", "any", "none", "tool"'],
  ["messages", { output_config: { format: { type: "x" } } }, '/output_config/format/type must be "json_schema"'],
  // More faults than TypeBox tells by itself.
  [
    "responses",
    { tools: ["a b", "c d", "e f", "g h"].map((name) => ({ type: "function", name })) },
    ...[0, 1, 2, 3].map(
      (at) => `/tools/${at}/name must be letters, digits, dots, dashes and underscores, at most 128 characters`,
    ),
  ],
])("%s with %j: one sentence, of the field and what fits there", (face, fields, ...sentences) => {
  const [schema, whole] = faces[face];
  expect(fieldErrors(schema, whole)).toEqual([]);
  expect(fieldErrors(schema, { ...whole, ...fields }).map(({ path, message }) => `${path} ${message}`)).toEqual(sentences);
});
