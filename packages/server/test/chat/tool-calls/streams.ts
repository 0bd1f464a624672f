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
const members = (values: unknown): readonly [string, unknown][] => Object.entries(values as object);
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
            `\n<tool_call>\n<function=${name}>\n${members(values).map(parameter).join("")}</function>\n</tool_call>`,
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
  glm: {
    format: "glm",
    write: (text, calls) =>
      text +
      calls
        .map(
          ({ name, arguments: values }) =>
            `\n<tool_call>${name}\n${members(values)
              .map(([key, value]) => `<arg_key>${key}</arg_key>\n<arg_value>${asText(value)}</arg_value>\n`)
              .join("")}</tool_call>`,
        )
        .join(""),
  },
  minimax: {
    format: "minimax",
    write: (text, calls) => `${text}\n<minimax:tool_call>\n${calls.map((call) => invoke("", call)).join("")}</minimax:tool_call>`,
  },
  atem: {
    format: "atem",
    write: (text, calls) =>
      [
        text && ` to=user<|message|>${text}`,
        ...calls.map(
          (call) => ` to=${call.name}<|message|><atem:function_calls>\n${invoke("atem:", call)}</atem:function_calls>`,
        ),
      ]
        .filter(Boolean)
        .join("<|eom|><|start|>assistant"),
  },
  "deepseek-v3": {
    format: "deepseek-v3",
    write: (text, calls) =>
      text + deepseek(calls, (call) => `function<｜tool▁sep｜>${call.name}\n\`\`\`json\n${json(call.arguments)}\n\`\`\``),
  },
  "deepseek-v3.1": {
    format: "deepseek-v3.1",
    write: (text, calls) => text + deepseek(calls, (call) => `${call.name}<｜tool▁sep｜>${json(call.arguments)}`),
  },
  lfm2: { format: "lfm2", write: (text, calls) => text + python(calls, pythonValue) },
  "lfm2, texts as they are": {
    format: "lfm2-unescaped",
    write: (text, calls) => text + python(calls, (value) => (typeof value === "string" ? `'${value}'` : json(value))),
  },
  harmony: {
    format: "harmony",
    write: (text, calls) =>
      [
        "<|channel|>analysis<|message|>I could call to=functions.ls<|message|>{}",
        ...(text ? [`<|channel|>commentary<|message|>${text}`] : []),
        ...calls.map(
          ({ name, arguments: values }) =>
            `<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>${json(values)}`,
        ),
      ].join("<|end|><|start|>assistant"),
  },
};

const asText = (value: unknown): string => (typeof value === "string" ? value : json(value));
const pythonText = (text: string): string => `'${text.replace(/[\\']/g, "\\$&").replaceAll("\n", "\\n")}'`;
const pythonValue = (value: unknown): string => (typeof value === "string" ? pythonText(value) : json(value));
const python = (calls: readonly Call[], value: (one: unknown) => string): string =>
  `<|tool_call_start|>[${calls
    .map(({ name, arguments: values }) => `${name}(${members(values).map(([key, one]) => `${key}=${value(one)}`)})`)
    .join(", ")}]<|tool_call_end|>`;
const deepseek = (calls: readonly Call[], write: (call: Call) => string): string =>
  `<｜tool▁calls▁begin｜>${calls.map((call) => `<｜tool▁call▁begin｜>${write(call)}<｜tool▁call▁end｜>`).join("")}<｜tool▁calls▁end｜>`;
const invoke = (prefix: string, { name, arguments: values }: Call): string =>
  `<${prefix}invoke name="${name}">\n${members(values)
    .map(([key, value]) => `<${prefix}parameter name="${key}">${asText(value)}</${prefix}parameter>\n`)
    .join("")}</${prefix}invoke>\n`;

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

/** Marks of formats that leave some of them out of the text. */
export const MARKS = [
  ..."<|channel|> analysis commentary <|message|> <|end|> <|start|>assistant to= self functions. <|eom|> <minimax:tool_call>".split(
    " ",
  ),
  ...'<arg_key> </arg_key> <arg_value> </arg_value> <invoke name=" a"> <parameter </parameter> </invoke>'.split(" "),
  ..."<｜tool▁calls▁begin｜> <｜tool▁call▁begin｜> <｜tool▁sep｜> <|tool_call_start|> f( a= ' \\' ) <|tool_call_end|>".split(" "),
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
