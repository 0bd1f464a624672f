import { expect, test } from "vitest";
import { grammarAfter, grammarFor } from "../../../src/chat/llama-cpp/grammar.js";
import { specOf } from "../support.js";

const of = (json_schema: unknown) => grammarFor(specOf({ tools: [], json_schema }), null);
const tool = (name: string, parameters: unknown) => ({ name, description: null, parameters });
const withTools = (tools: readonly ReturnType<typeof tool>[], change = {}, format = "hermes") => {
  const free: string[] = [];
  return { grammar: grammarFor(specOf({ tools: [...tools], ...change }), format, (name) => free.push(name)), free };
};

test("an answer without a schema and without tools is free", () => {
  expect(of(null)).toBeNull();
});

test("properties stand in their order, required ones always, with the spaces of trainings", () => {
  const schema = { type: "object", properties: { a: { type: "integer" }, b: { type: "string", maxLength: 3 } }, required: ["a"] };
  const { gbnf } = of(schema) as { readonly gbnf: string };
  expect(gbnf).toContain('"{"');
  expect(gbnf).toContain('"\\"a\\": " integer');
  expect(gbnf).toContain('", " "\\"b\\": "');
  expect(gbnf).toContain("char{0,3}");
});

test.each([
  ["pattern", { type: "string", pattern: "a+" }],
  ["minimum", { type: "object", properties: { n: { type: "integer", minimum: 1 } } }],
  ["not", { not: {} }],
  ["allOf", { allOf: [{ type: "string" }, { maxLength: 3 }] }],
  ["uniqueItems", { type: "array", items: {}, uniqueItems: true }],
  ["patternProperties", { type: "object", patternProperties: {} }],
  ["$ref", { $ref: "https://elsewhere" }],
  ["#/$defs/gone", { $ref: "#/$defs/gone" }],
  ["refers to nothing else", { $ref: "#" }],
  ["maxLength over 1000", { type: "string", maxLength: 5000 }],
  ['"text"', { type: "text" }],
  ["no schema", { anyOf: [false] }],
])("what no grammar is made of is refused by its name: %s", (name, schema) => {
  expect(() => of(schema)).toThrow(name);
  expect(() => of(schema)).toThrow("The JSON schema of the answer");
});

test("a schema that refers to itself has one rule for itself", () => {
  const { gbnf } = of({ type: "object", properties: { next: { $ref: "#" } } }) as { readonly gbnf: string };
  expect(gbnf.length).toBeLessThan(2000);
});

const BASH = tool("bash", { type: "object", properties: { command: { type: "string" } }, required: ["command"] });
const ODD = tool("odd", { type: "object", properties: { n: { type: "integer", minimum: 1 } } });

test("words are free until a call's mark, and from there the calls are held to the tools that they may still name", () => {
  const { grammar } = withTools([BASH, tool("build", null)]);
  if (grammar === null) throw new Error("there is a grammar");
  expect(grammarAfter("I look at <tool", grammar)).toBeNull();
  expect(grammarAfter("I look.\n<tool_call>", grammar)).toMatch(
    /^root ::= \("\\n\{\\"name\\": \\"bash\\".*\| "\\n\{\\"name\\": \\"build/,
  );
  expect(grammarAfter('<tool_call>\n{"name": "bu', grammar)).toMatch(/^root ::= \("ild\\", \\"arguments\\": " object /);
  expect(grammarAfter('<tool_call>\n{"name": "bash", "arguments":', grammar)).toMatch(/^root ::= \(" " r/);
  expect(grammarAfter('<tool_call>{"name"', grammar)).toBeNull();
});

test("one call at most leaves no place for another", () => {
  const root = (change: object) => grammarAfter("<tool_call>", withTools([BASH], change).grammar as never)?.split("\n")[0];
  expect(root({})).toMatch(/\)\*$/);
  expect(root({ parallel_tool_calls: false })).not.toMatch(/\)\*$/);
});

test("a tool whose schema no grammar is made of is held to an object, and named", () => {
  const { grammar, free } = withTools([BASH, ODD]);
  expect(grammarAfter('<tool_call>\n{"name": "odd"', grammar as never)).toContain('\\"arguments\\": " object');
  expect(free).toEqual(["odd"]);
});

test("calls of other formats are free, and their tools named", () => {
  expect(withTools([BASH], {}, "mistral")).toEqual({ grammar: null, free: ["bash"] });
});

test("a schema beside tools is refused", () => {
  expect(() => withTools([BASH], { json_schema: {} })).toThrow("beside tools");
});
