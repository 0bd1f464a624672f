import type { Call, Tool } from "./call.js";
import { gemmaCalls } from "./gemma.js";
import type { Input, Reading } from "./input.js";
import { mistralCalls } from "./mistral.js";
import { bareCall, functionInTags, jsonCalls, taggedCalls } from "./tagged.js";

/** How calls begin, what reads them behind that mark, and the mark that may follow them. */
export interface Syntax {
  readonly opening: string;
  readonly read: (input: Input, tools: readonly Tool[]) => Reading<readonly Call[]>;
  readonly closing?: string;
  /** `opening` is a part of the call, and no mark where words stand before it. */
  readonly bare?: true;
}

const TAGGED: Syntax = { opening: "<tool_call>", read: taggedCalls, closing: "</tool_call>" };

/** What a format has beside `<tool_call>`, which all understand: adapters learn it where a template cannot write a session's calls. */
const OWN_SYNTAX = {
  generic: [],
  hermes: [],
  "qwen3-coder": [{ opening: "<function=", read: functionInTags, closing: "</tool_call>" }],
  llama3: [
    { opening: "<|python_tag|>", read: jsonCalls },
    { opening: "{", read: bareCall, bare: true },
  ],
  mistral: [{ opening: "[TOOL_CALLS]", read: mistralCalls }],
  granite: [{ opening: "<|tool_call|>", read: jsonCalls }],
  gemma4: [{ opening: "<|tool_call>", read: gemmaCalls('<|"|>'), closing: "<tool_call|>" }],
  functiongemma: [{ opening: "<start_function_call>", read: gemmaCalls("<escape>"), closing: "<end_function_call>" }],
} satisfies Record<string, readonly Syntax[]>;

export type ToolCallFormat = keyof typeof OWN_SYNTAX;
export const TOOL_CALL_FORMATS = Object.keys(OWN_SYNTAX) as readonly ToolCallFormat[];

export const syntaxesOf = (format: ToolCallFormat): readonly Syntax[] => [TAGGED, ...OWN_SYNTAX[format]];

/** What a chat template writes, or tells the model to write, in each format; the first row that fits counts. */
const MARKS: readonly (readonly [string, ToolCallFormat])[] = [
  ["<start_function_call>", "functiongemma"],
  ["<|tool_call>", "gemma4"],
  ["[TOOL_CALLS]", "mistral"],
  ["<|tool_call|>", "granite"],
  ["<function=", "qwen3-coder"],
  ["<tool_call>", "hermes"],
  ["<|python_tag|>", "llama3"],
  ['{"name": function name, "parameters":', "llama3"],
];

/** The format of the calls that a chat template asks for: generic where it knows no tools. */
export const formatOf = (chatTemplate: string): ToolCallFormat =>
  MARKS.find(([mark]) => chatTemplate.includes(mark))?.[1] ?? "generic";
