import { readFile } from "node:fs/promises";
import { TOOL_CALL_FORMATS } from "@imprint/contracts";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { toolCallParser } from "../../../src/chat/tool-calls/parser.js";
import { anyStream, callsOf, FRAGMENTS, MARKS, read, textOf, told, torn, WRITERS } from "./streams.js";

const FORMATS = Object.keys(TOOL_CALL_FORMATS);
const format = fc.constantFrom(...FORMATS);
const CALL = '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>';
const LS = [["bash"], ['{"command": "ls"}']];

test("any split of any stream gives the same events", () => {
  fc.assert(
    fc.property(format, anyStream([...FRAGMENTS, ...MARKS]), fc.array(fc.nat(), { maxLength: 12 }), (chosen, text, cuts) => {
      const whole = read(chosen, [text]);
      expect(read(chosen, torn(text, cuts))).toEqual(whole);
      expect(read(chosen, text.split(""))).toEqual(whole);
    }),
    { numRuns: 1000 },
  );
});

test.each(FORMATS)("5,000 streams in %s that no call can end in come back as the text that they are", (chosen) => {
  const unclosed = FRAGMENTS.map((part) => part.replace(/[}\]]/g, "")).filter((part) => !part.startsWith("</"));
  const stream = anyStream(unclosed).map((text) => text.replace(/[}\]]|<\//g, ""));
  fc.assert(
    fc.property(stream, (text) => {
      // expect is slow where it is asked so often.
      const events = read(chosen, torn(text, [text.length >> 1]));
      return text === "" ? events.length === 0 : events.length === 1 && events[0]?.type === "text" && events[0].text === text;
    }),
    { numRuns: 5_000 },
  );
});

test("whatever comes, the texts are pieces of it in their order", () => {
  fc.assert(
    fc.property(format, anyStream(), (chosen, text) => {
      let at = 0;
      for (const event of read(chosen, [text])) {
        const words = event.type === "text" ? event.text : event.name;
        const found = text.indexOf(words, at);
        expect(found).toBeGreaterThanOrEqual(at);
        at = found + words.length;
      }
    }),
    { numRuns: 1000 },
  );
});

const name = fc.stringMatching(/^[a-zA-Z_][\w-]{0,9}$/);
const text = fc.string({
  unit: fc.constantFrom("a", "é", "{", "}", '"', "\n", " ", "\\", "😀", "</parameter>", "</tool_call>", ";", "["),
});
const values = fc.dictionary(
  name,
  fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), fc.array(text), fc.dictionary(name, text)),
  { noNullPrototype: true },
);
const words = text.filter((one) => !one.endsWith("\n") && one.trim() !== "");

describe.each(Object.entries(WRITERS))("%s", (title, { format: chosen, write }) => {
  /** Qwen3-Coder parts texts from other values by the tools' schemas. */
  const tools = (calls: readonly { name: string; arguments: Record<string, unknown> }[]) =>
    calls.map(({ name, arguments: all }) => ({
      name,
      parameters: {
        properties: Object.fromEntries(
          Object.entries(all).map(([key, value]) => [key, { type: typeof value === "string" ? "string" : "object" }]),
        ),
      },
    }));

  it("reads what a model writes with a piece lost or put in the same however it is torn", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.record({ name, arguments: values }), { minLength: 1, maxLength: 2, selector: (call) => call.name }),
        fc.nat(),
        fc.nat(6),
        fc.constantFrom("", ...FRAGMENTS),
        fc.array(fc.nat(), { maxLength: 9 }),
        (calls, place, lost, put, cuts) => {
          const stream = write("So:", calls);
          const at = place % stream.length;
          const broken = stream.slice(0, at) + put + stream.slice(at + lost);
          const events = read(chosen, [broken], tools(calls));
          expect(read(chosen, torn(broken, cuts), tools(calls))).toEqual(events);
        },
      ),
      { numRuns: 400 },
    );
  });

  it("reads back what a model writes, torn anywhere", () => {
    fc.assert(
      fc.property(
        fc.option(words, { nil: "" }),
        fc.uniqueArray(fc.record({ name, arguments: values }), { minLength: 1, maxLength: 3, selector: (call) => call.name }),
        fc.array(fc.nat(), { maxLength: 9 }),
        (before, calls, cuts) => {
          const stream = write(before, calls);
          const events = read(chosen, torn(stream, cuts), tools(calls));
          expect(callsOf(events)).toEqual(calls);
          expect(textOf(events)).toBe(title === "llama3, bare" ? "" : before);
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe("texts", () => {
  it.each(FORMATS)("of an answer without calls pass at once, in %s", (chosen) => {
    const parser = toolCallParser(chosen);
    for (const word of ["Hello", " ", "world", ": 1 < 2, [a](b)", " {", "x}"])
      expect(parser.push(word).map((event) => event.type === "text" && event.text)).toEqual([word]);
    expect(parser.end()).toEqual([]);
  });

  it("that look like the beginning of a mark are held until they cannot be one", () => {
    const parser = toolCallParser("generic");
    expect(parser.push("see <tool_cal")).toEqual([{ type: "text", text: "see " }]);
    expect(parser.push("m")).toEqual([{ type: "text", text: "<tool_calm" }]);
    expect(parser.push("\n<tool_call>")).toEqual([]);
    expect(
      parser
        .push("x")
        .map((event) => event.type === "text" && event.text)
        .join(""),
    ).toBe("\n<tool_call>x");
  });

  it("in JSON that is no call are held no longer than its first key", () => {
    const parser = toolCallParser("llama3");
    expect(parser.push('{"n')).toEqual([]);
    expect(parser.push("umber").map((event) => event.type)).toEqual(["text", "text"]);
    expect(told("llama3", '{"name": "Ada"}').join("")).toBe('{"name": "Ada"}');
    expect(told("llama3", 'So: {"name": "f", "parameters": {}}').join("")).toBe('So: {"name": "f", "parameters": {}}');
  });

  it("around calls lose the white space that belongs to the calls, and no other", () => {
    expect(told("generic", `I look.\n${CALL}\n${CALL}\n`)).toEqual(["I look.", ...LS, ...LS]);
    expect(told("generic", `I look. \n\n${CALL}\n\nDone.\n`)).toEqual(["I look. \n", ...LS, "\n\nDone.\n"]);
    expect(told("generic", " \n ")).toEqual([" \n "]);
  });
});

describe("calls", () => {
  it("are told as soon as they are whole, before what may close them", () => {
    const parser = toolCallParser("generic");
    expect(parser.push('<tool_call>{"name": "f", "arguments": {"a": [1]}')).toEqual([]);
    expect(parser.push("}")).toEqual([{ type: "call", name: "f", arguments: '{"a": [1]}' }]);
    expect([...parser.push("\n</tool_call>"), ...parser.end()]).toEqual([]);
  });

  it("keep their arguments to the letter, and free text as text", () => {
    const big = '{ "id":12345678901234567890, "2": 1,"1" : "\\u00e9" }';
    expect(told("generic", `<tool_call>{"name":"f","arguments": ${big} }</tool_call>`)).toEqual([["f"], [big]]);
    expect(told("generic", '<tool_call>{"name":"apply_patch","arguments":"*** Begin\\n+x"}</tool_call>')).toEqual([
      ["apply_patch"],
      ["*** Begin\n+x"],
    ]);
    expect(told("generic", '<tool_call>{"name":"list"}</tool_call>')).toEqual([["list"], ["{}"]]);
    expect(told("generic", '<tool_call>{"type":"function","function":{"name":"f","arguments":{}}}</tool_call>')).toEqual([
      ["f"],
      ["{}"],
    ]);
  });

  it("hold marks inside of their arguments", () => {
    const written = '{"content": "<tool_call>{}</tool_call>"}';
    expect(told("generic", `<tool_call>{"name": "write", "arguments": ${written}}</tool_call>`)).toEqual([["write"], [written]]);
  });

  it.each([
    '{"name": "f", "arguments": {"a": 1}', // cut
    '{"name": "f", "arguments": {a: 1}}</tool_call>',
    '{"name": "f", "arguments": [1]}</tool_call>',
    '{"name": "", "arguments": {}}</tool_call>',
    '{"arguments": {}}</tool_call>',
    '[{"name": "f", "arguments": {}}, 1]</tool_call>',
    "[]</tool_call>",
    '{"name": "f", "arguments": {"a": "line\nbreak"}}</tool_call>',
    `{"name": "f", "arguments": {"a": ${"[".repeat(100_000)}`,
  ])("that are malformed are text, and do not hide the next one: %#", (rest) => {
    expect(told("generic", `<tool_call>${rest}`)).toEqual([`<tool_call>${rest}`]);
    expect(textOf(read("generic", [`<tool_call>${rest}\n${CALL}`]))).toBe(`<tool_call>${rest}`);
    expect(told("generic", `<tool_call>${rest}\n${CALL}`).slice(-2)).toEqual(LS);
  });

  it("of Imprint's own format are understood in every other", () => {
    for (const chosen of FORMATS) expect(told(chosen, `I look.\n${CALL}`)).toEqual(["I look.", ...LS]);
  });

  it("of Qwen3-Coder take each value as its schema says", () => {
    const properties = {
      text: { type: "string" },
      count: { type: "integer" },
      all: { type: "boolean" },
      either: { anyOf: [{ type: "string" }, { type: "null" }] },
    };
    const values = { text: "1", count: "2", all: "true", either: "null", unknown: "3" };
    const written = Object.entries(values)
      .map(([key, value]) => `<parameter=${key}>${value}</parameter>`)
      .join("\n");
    const tools = [{ name: "f", parameters: { type: "object", properties } }];
    expect(callsOf(read("qwen3-coder", [`<function=f>${written}</function>`], tools))).toEqual([
      { name: "f", arguments: { text: "1", count: 2, all: true, either: "null", unknown: "3" } },
    ]);
  });
});

/** What every chat template that trl ships writes of calls: `trainer/tests/data/written_calls.py` made the file. */
const RECORDED = JSON.parse(await readFile(new URL("../../fixtures/written-calls.json", import.meta.url), "utf8")) as {
  readonly tools: Parameters<typeof read>[2];
  readonly calls: readonly { readonly name: string; readonly arguments: unknown }[];
  readonly words: string;
  readonly written: readonly { templates: string[]; format: string; calls: number; words: boolean; text: string }[];
};

test.each(RECORDED.written.map((one) => [one.templates.join(", "), one.calls, one] as const))(
  "what %s write of %i calls is read back whole and in pieces of 1 to 64 characters",
  (_, __, { format: chosen, calls, words, text }) => {
    const whole = read(chosen, [text], RECORDED.tools);
    expect(callsOf(whole)).toEqual(RECORDED.calls.slice(0, calls));
    // The template of gpt-oss shows words beside a call as a thought.
    expect(textOf(whole).trim()).toBe(words && chosen !== "harmony" ? RECORDED.words : "");
    // A turn's last mark may be missing, but where it ends the call's arguments.
    const cut =
      chosen === "glm" ? text : text.replace(/(?:<\/tool_call>|<[^<>]*tool[_▁]calls?[^<>]*>|<\/atem:function_calls>)$/, "");
    expect(callsOf(read(chosen, [cut], RECORDED.tools))).toEqual(callsOf(whole));
    for (let length = 1; length <= 64; length += 1)
      expect(read(chosen, text.match(new RegExp(`[^]{1,${length}}`, "g")) ?? [], RECORDED.tools)).toEqual(whole);
  },
);

test("thoughts of gpt-oss are no text of the answer, and neither are those that were cut off", () => {
  const thought = "<|channel|>analysis<|message|>They want a joke. <tool_call>";
  expect(told("harmony", `${thought}<|end|><|start|>assistant<|channel|>final<|message|>Knock, knock.`)).toEqual([
    "Knock, knock.",
  ]);
  expect(told("harmony", thought)).toEqual([]);
});

test("no mark of a format is the beginning of another, so that the one that came whole is the one that stands there", () => {
  for (const { calls, left_out = [] } of Object.values(TOOL_CALL_FORMATS)) {
    const marks = [...new Set([...calls, ...left_out].map((pattern) => pattern.split(" ")[0] ?? ""))];
    expect(marks.filter((mark) => marks.some((other) => other !== mark && other.startsWith(mark)))).toEqual([]);
  }
});

test("a long call in single characters takes time by its length", () => {
  const content = "a\\n".repeat(10_000);
  const parser = toolCallParser("generic");
  const events = [...`<tool_call>{"name": "write", "arguments": {"content": "${content}"}}`].flatMap((piece) =>
    parser.push(piece),
  );
  expect(events).toHaveLength(1);
});
