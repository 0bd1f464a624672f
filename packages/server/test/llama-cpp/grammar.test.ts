import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { llamaCppEntry } from "../../src/chat/choose.js";
import { grammarAfter, grammarFor } from "../../src/chat/llama-cpp/grammar.js";
import { findRepoRoot } from "../../src/config/setup.js";
import { specOf } from "../chat/support.js";

/** What of a real llama.cpp reads grammars; `_testText` says whether a whole text keeps to one. */
interface Llama {
  createGrammar(options: { readonly grammar: string }): Promise<{ _testText(text: string): boolean }>;
  dispose(): Promise<void>;
}

const OPTIONS = { gpu: false, build: "never", progressLogs: false, logLevel: "error" };
let llama: Llama | undefined;
afterAll(() => llama?.dispose());

const reader = async (gbnf: string): Promise<(text: string) => boolean> => {
  const { getLlama } = (await import(pathToFileURL(llamaCppEntry(findRepoRoot())).href)) as {
    getLlama(options: object): Promise<Llama>;
  };
  llama ??= await getLlama(OPTIONS);
  const grammar = await llama.createGrammar({ grammar: gbnf });
  return (text) => grammar._testText(text);
};

const written = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}: ${written(inner)}`);
  return `{${pairs.join(", ")}}`;
};

const NODE = {
  type: "object",
  properties: { v: { type: "integer" }, next: { anyOf: [{ $ref: "#/$defs/n" }, { type: "null" }] } },
  required: ["v", "next"],
};
const ODD = 'a\b\f\u007f\\"é\n';

test.each<[unknown, readonly unknown[], readonly unknown[]]>([
  [
    {
      type: "object",
      properties: { a: { type: "integer" }, b: { type: "string", maxLength: 3 }, c: { type: "boolean" } },
      required: ["b"],
    },
    [{ b: "x" }, { a: 1, b: "xyz" }, { a: -3, b: "", c: true }, { b: 'ü\n"', c: false }],
    [{ a: 1 }, { b: "wxyz" }, { c: true, b: "x" }, { b: "x", d: 1 }],
  ],
  [{ type: "object", additionalProperties: { type: "integer" } }, [{}, { q: 1 }, { q: 1, r: 2 }], [{ q: "x" }]],
  [
    { type: "object", properties: { a: { type: "null" } }, additionalProperties: true },
    [{}, { a: null, z: [1, {}] }, { z: 1 }],
    [[]],
  ],
  [
    { type: "array", items: { type: "number" }, minItems: 1, maxItems: 3 },
    [[1], [1.5, -2e30], [0, 0, 0]],
    [[], [1, 2, 3, 4], ["x"]],
  ],
  [{ type: "array", items: { enum: ["a", 2, null, { k: [1, 2] }] } }, [[], ["a", 2, null], [{ k: [1, 2] }]], [["b"]]],
  [
    { $ref: "#/$defs/n", $defs: { n: NODE } },
    [
      { v: 1, next: null },
      { v: 1, next: { v: 2, next: null } },
    ],
    [{ v: 1 }, { v: 1, next: 3 }],
  ],
  [{ type: ["string", "null"] }, ["x", null], [1]],
  [{}, [{ a: [1, "x", {}] }, "x", 3, true, null], []],
  [{ const: ODD }, [ODD], ["a"]],
])("llama.cpp takes what keeps to the schema %j, and nothing else", async (json_schema, good, bad) => {
  const grammar = grammarFor(specOf({ tools: [], json_schema }), null);
  const takes = await reader(grammarAfter("", grammar as never) ?? "");
  expect(good.filter((value) => !takes(written(value)))).toEqual([]);
  expect(bad.filter((value) => takes(written(value)))).toEqual([]);
});

test("llama.cpp takes calls of the tools, one after another, and no others", async () => {
  const parameters = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };
  const tools = [
    { name: "bash", description: null, parameters },
    { name: "build", description: null, parameters: null },
  ];
  const grammar = grammarFor(specOf({ tools }), "hermes");
  const takes = await reader(grammarAfter("Words. <tool_call>", grammar as never) ?? "");
  const call = (name: string, args: string): string => `\n{"name": "${name}", "arguments": ${args}}\n</tool_call>`;
  expect(takes(call("bash", '{"command": "ls </tool_call>"}'))).toBe(true);
  expect(takes(`${call("build", '{"z": 1}')}\n<tool_call>${call("bash", '{"command": ""}')}`)).toBe(true);
  for (const wrong of [call("bash", "{}"), call("rm", "{}"), '{"name"']) expect(takes(wrong)).toBe(false);
});
