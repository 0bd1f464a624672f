import type { Call, Tool } from "./call.js";
import type { Input, Reading } from "./input.js";
import { bareCall, functionInTags, gemmaCalls, jsonCalls, mistralCalls, taggedCalls } from "./readers.js";

/** How calls begin, what reads them behind that mark, and the mark that may follow them. */
export interface Syntax {
  readonly opening: string;
  readonly read: (input: Input, tools: readonly Tool[]) => Reading<readonly Call[]>;
  readonly closing?: string;
  /** `opening` is a part of the call, and no mark where words stand before it. */
  readonly bare?: true;
}

/** What every format understands: adapters learn it where a template cannot write a session's calls. */
export const TAGGED = { opening: "<tool_call>", read: taggedCalls, closing: "</tool_call>" } as const satisfies Syntax;

/** What each format has beside that; the trainer says which one a model's chat template asks for. */
const OWN_SYNTAX: Readonly<Record<string, readonly Syntax[]>> = {
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
};

export const TOOL_CALL_FORMATS: readonly string[] = Object.keys(OWN_SYNTAX);

export const syntaxesOf = (format: string | null): readonly Syntax[] =>
  format === null ? [] : [TAGGED, ...(OWN_SYNTAX[format] ?? [])];
