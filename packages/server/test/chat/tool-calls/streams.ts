import fc from "fast-check";
import { type ToolCallEvent, toolCallParser } from "../../../src/chat/tool-calls/parser.js";

export interface Call {
  readonly name: string;
  readonly arguments: unknown;
}

/** The events of a stream in pieces, neighbouring texts joined. */
export const read = (format: string, pieces: readonly string[], tools: Parameters<typeof toolCallParser>[1] = []) => {
  const parser = toolCallParser(format, tools);
  const merged: ToolCallEvent[] = [];
  for (const event of [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()]) {
    const last = merged.at(-1);
    if (event.type === "text" && last?.type === "text")
      merged[merged.length - 1] = { type: "text", text: last.text + event.text };
    else merged.push(event);
  }
  return merged;
};

/** Words and calls of a stream, for short. */
export const told = (format: string, text: string, tools: Parameters<typeof toolCallParser>[1] = []) =>
  read(format, [text], tools).flatMap((event): (string | string[])[] =>
    event.type === "text" ? [event.text] : [[event.name], [event.arguments]],
  );

export const textOf = (events: readonly ToolCallEvent[]): string =>
  events.map((event) => (event.type === "text" ? event.text : "")).join("");

export const callsOf = (events: readonly ToolCallEvent[]): Call[] =>
  events.flatMap((event) => (event.type === "call" ? [{ name: event.name, arguments: JSON.parse(event.arguments) }] : []));

const json = JSON.stringify;
const inTags = (call: Call): string => `<tool_call>\n${json(call)}\n</tool_call>`;
const gemmaValue = (value: unknown, quote: string): string => {
  if (typeof value === "string") return quote + value + quote;
  if (Array.isArray(value)) return `[${value.map((item) => gemmaValue(item, quote)).join(",")}]`;
  if (typeof value !== "object" || value === null) return json(value);
  return `{${Object.entries(value).map(([key, item]) => `${/^\w+$/.test(key) ? key : quote + key + quote}:${gemmaValue(item, quote)}`)}}`;
};
const parameter = ([key, value]: readonly [string, unknown]): string =>
  `<parameter=${key}>\n${typeof value === "string" ? value : json(value)}\n</parameter>\n`;

/** How models write calls after `text`: written by what the formats' documents say, not by the parsers. */
export const WRITERS: Readonly<Record<string, { format: string; write: (text: string, calls: readonly Call[]) => string }>> = {
  generic: { format: "generic", write: (text, calls) => [text, ...calls.map(inTags)].filter(Boolean).join("\n") },
  "hermes on one line": {
    format: "hermes",
    write: (text, calls) => text + calls.map((call) => `<tool_call>${json(call)}</tool_call>`).join(""),
  },
  "a list in tags": { format: "hermes", write: (text, calls) => `${text}<tool_call>${json(calls)}</tool_call>` },
  "qwen3-coder": {
    format: "qwen3-coder",
    write: (text, calls) =>
      text +
      calls
        .map(
          ({ name, arguments: values }) =>
            `\n<tool_call>\n<function=${name}>\n${Object.entries(values as object)
              .map(parameter)
              .join("")}</function>\n</tool_call>`,
        )
        .join(""),
  },
  "llama3, bare": {
    format: "llama3",
    write: (_, calls) => calls.map((call) => json({ name: call.name, parameters: call.arguments })).join("; "),
  },
  "llama3, marked": {
    format: "llama3",
    write: (text, calls) =>
      text + calls.map((call) => `<|python_tag|>${json({ name: call.name, parameters: call.arguments })}`).join(""),
  },
  "mistral, a list": {
    format: "mistral",
    write: (text, calls) => `${text}[TOOL_CALLS]${json(calls.map((call) => ({ ...call, id: "a1b2c3d4e" })))}`,
  },
  "mistral, by name": {
    format: "mistral",
    write: (text, calls) => text + calls.map((call) => `[TOOL_CALLS]${call.name}${json(call.arguments)}`).join(""),
  },
  "mistral, with marks": {
    format: "mistral",
    write: (text, calls) =>
      text + calls.map((call) => `[TOOL_CALLS]${call.name}[CALL_ID]a1b2c3d4e[ARGS]${json(call.arguments)}`).join(""),
  },
  "granite 3.0": { format: "granite", write: (text, calls) => `${text}<|tool_call|>${json(calls)}` },
  "granite 3.1": { format: "hermes", write: (text, calls) => `${text}<tool_call>${json(calls)}` },
  gemma4: {
    format: "gemma4",
    write: (text, calls) =>
      text + calls.map((call) => `<|tool_call>call:${call.name}${gemmaValue(call.arguments, '<|"|>')}<tool_call|>`).join(""),
  },
  functiongemma: {
    format: "functiongemma",
    write: (text, calls) =>
      text +
      calls
        .map((call) => `<start_function_call>call:${call.name}${gemmaValue(call.arguments, "<escape>")}<end_function_call>`)
        .join(""),
  },
};

/** What streams are torn from: marks, pieces of them, and what stands in calls. */
export const FRAGMENTS = [
  "<tool_call>",
  "</tool_call>",
  "<tool_",
  "call>",
  "<function=",
  "f>",
  "<parameter=",
  "a>",
  "</parameter>",
  "</function>",
  "<|python_tag|>",
  "[TOOL_CALLS]",
  "[ARGS]",
  "[CALL_ID]",
  "<|tool_call|>",
  "<|tool_call>",
  "<tool_call|>",
  '<|"|>',
  "call:f{",
  "a:",
  "<start_function_call>",
  "<escape>",
  "<end_function_call>",
  '{"name": "f", "arguments": {"a": "b"}}',
  '{"name": "f", "parameters": {}}',
  '{"name":',
  '"f"',
  ",",
  '"arguments":',
  "{",
  "}",
  "[",
  "]",
  '"',
  "\\",
  "\\u00e9",
  ";",
  ":",
  "\n",
  " ",
  "\t",
  "é",
  "😀",
  "words",
  "1",
  "null",
] as const;

export const anyStream = (fragments: readonly string[] = FRAGMENTS): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...fragments) }, fc.string({ maxLength: 4 })), { maxLength: 30 })
    .map((parts) => parts.join(""));

/** A text in pieces: torn anywhere, in the middle of a character too. */
export const torn = (text: string, cuts: readonly number[]): string[] => {
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
  return places.slice(1).map((end, index) => text.slice(places[index], end));
};
