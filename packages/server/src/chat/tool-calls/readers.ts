import { isObject, type ToolCallFormat } from "@imprint/contracts";
import { argumentsOf, type Call, callsOf, jsonText, parsed, type Tool } from "./call.js";
import { accept, type Input, more, type Reading, run, space, until } from "./input.js";

/** Where a slot stands: in a format's pattern, behind a tool's name or "", before a mark or "". */
interface Place {
  readonly format: ToolCallFormat;
  readonly tools: readonly Tool[];
  readonly name: string;
  readonly behind: string;
}

const NAME = /[^\s"'<>{}()[\]|｜,=]/;
const KEY = /[^\s:,="'<>{}()[\]]/;
const WORD = /[A-Za-z0-9_<|>:. -]/;

export const wordsOf = (mark: string): readonly string[] => mark.split(/\s+/).filter(Boolean);

/**
 * Reads a pattern of `packages/contracts/src/tool-calls.ts`, given as `text, slot, text, ..`, and tells its calls as soon as they are whole.
 * False where something else stands there; what follows the last slot may be missing.
 */
export function* readPattern(
  input: Input,
  parts: readonly string[],
  { tell, ...format }: Pick<Place, "format" | "tools"> & { readonly tell: (call: Call) => void },
): Generator<void, boolean> {
  let name = "";
  let isClosed = false;
  for (const [place, part] of parts.entries()) {
    const behind = wordsOf(parts[place + 1] ?? "")[0] ?? "";
    if (place % 2 === 0) {
      for (const mark of wordsOf(part)) if (!(yield* accept(input, mark)) && !isClosed) return false;
    } else if (part === "name") {
      name = (yield* word(input, NAME)) ?? "";
      if (name === "") return false;
    } else if (part === "word") {
      if (!(yield* upTo(input, behind))) return false;
    } else {
      const calls: readonly Call[] | null = yield* slots[part as keyof typeof slots](input, { ...format, name, behind });
      if (calls === null) return false;
      for (const call of calls) tell(call);
      isClosed = true;
    }
  }
  return true;
}

function* word(input: Input, wanted: RegExp): Reading<string> {
  yield* space(input);
  return yield* run(input, wanted);
}

function* upTo(input: Input, mark: string): Generator<void, boolean> {
  for (;;) {
    const at = input.at;
    if (yield* accept(input, mark)) {
      input.at = at;
      return true;
    }
    if (!(yield* more(input)) || !WORD.test(input.text.charAt(at))) return false;
    input.at += 1;
  }
}

const callWith = (name: string, written: string | null): readonly Call[] | null =>
  written === null ? null : [{ name, arguments: written }];

/** What stands behind an argument's text that is not escaped: the next argument, or the call's end. */
const BEHIND_ARGUMENT: readonly Sequence[] = [
  [",", KEY, "="],
  [")", "]"],
  [")", ",", NAME, "("],
];

const slots = {
  *json(input: Input): Reading<readonly Call[]> {
    yield* space(input);
    const json = yield* jsonText(input);
    return json === null ? null : callsOf(json);
  },

  /** Any other object is an answer in JSON. */
  *bare(input: Input): Reading<readonly Call[]> {
    const from = input.at;
    yield* accept(input, "{");
    if (!((yield* accept(input, '"name"')) || (yield* accept(input, '"type"')))) return null;
    input.at = from;
    const json = yield* jsonText(input);
    const calls = json === null ? null : callsOf(json);
    return calls && /"(?:parameters|arguments)"\s*:/.test(json ?? "") ? calls : null;
  },

  *object(input: Input, { name }: Place): Reading<readonly Call[]> {
    yield* space(input);
    const json = yield* jsonText(input);
    return json === null || parsed(json) === undefined ? null : callWith(name, argumentsOf(json));
  },

  *parameters(input: Input, { format, tools, name, behind }: Place): Reading<readonly Call[]> {
    const [before = "", between = "", after = ""] = (format.parameter ?? "").split(/\{\w+\}/);
    const members = new Map<string, string>();
    while (!(yield* accept(input, behind))) {
      const key = (yield* stands(input, wordsOf(before))) ? yield* word(input, NAME) : null;
      if (key === null || !(yield* stands(input, wordsOf(between)))) return null;
      const text = yield* textUntil(input, after.trim(), [wordsOf(before), [behind]]);
      if (text === null) return null;
      const value = after.startsWith("\n") ? text.replace(/^\n/, "").replace(/\n$/, "") : text;
      members.set(key, jsonOf(value, schemaOf(tools, name, key)));
    }
    const parts = [...members].map(([key, value]) => `${JSON.stringify(key)}: ${value}`);
    return callWith(name, `{${parts.join(", ")}}`);
  },

  *members(input: Input, { format, name }: Place): Reading<readonly Call[]> {
    const text = unescaped(format.quote ?? "", []);
    return (yield* accept(input, "{"))
      ? callWith(name, yield* members(input, { end: "}", between: ":", text, inner: text }, 0))
      : null;
  },

  *python(input: Input, { format: { quote } }: Place): Reading<readonly Call[]> {
    const text = quote === undefined ? escaped : unescaped(quote, BEHIND_ARGUMENT);
    const call = function* (): Reading<Call> {
      const name = yield* word(input, NAME);
      if (name === null || !(yield* accept(input, "("))) return null;
      const written = yield* members(input, { end: ")", between: "=", text, inner: escaped }, 0);
      return written === null ? null : { name, arguments: written };
    };
    const calls: readonly Call[] | null = (yield* accept(input, "[")) ? yield* listed(input, "]", call) : null;
    return calls?.length ? calls : null;
  },

  *thought(input: Input, { behind }: Place): Reading<readonly Call[]> {
    if ((yield* until(input, behind)) === null) input.at = input.text.length;
    return [];
  },
};

/** Marks, and runs of what a pattern matches, in their order. */
type Sequence = readonly (string | RegExp)[];

/** What stands before a mark that one of `ends` follows, white space apart; before the next mark, where there are none. */
function* textUntil(input: Input, mark: string, ends: readonly Sequence[]): Reading<string> {
  const from = input.at;
  for (;;) {
    if ((yield* until(input, mark)) === null) return null;
    const end = input.at;
    let isEnd = ends.length === 0;
    for (const sequence of ends) {
      isEnd ||= yield* stands(input, sequence);
      input.at = end;
    }
    if (isEnd) return input.text.slice(from, end - mark.length);
  }
}

function* stands(input: Input, sequence: Sequence): Generator<void, boolean> {
  for (const one of sequence)
    if (typeof one === "string" ? !(yield* accept(input, one)) : (yield* word(input, one)) === null) return false;
  return true;
}

const schemaOf = (tools: readonly Tool[], name: string, key: string): unknown => {
  const parameters = tools.find((tool) => tool.name === name)?.parameters;
  const properties = isObject(parameters) ? parameters.properties : null;
  return isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : null;
};

const isText = (schema: unknown): boolean => {
  if (!isObject(schema)) return true;
  const options = [schema.anyOf, schema.oneOf].find(Array.isArray);
  if (options) return options.some(isText);
  if (Array.isArray(schema.enum)) return schema.enum.some((value) => typeof value === "string");
  return schema.type === undefined || schema.type === "string" || (Array.isArray(schema.type) && schema.type.includes("string"));
};

/** As Python writes them. */
const WORDS: Readonly<Record<string, string>> = { True: "true", False: "false", None: "null" };

const jsonOf = (text: string, schema: unknown): string => {
  const written = text.trim();
  const json = WORDS[written] ?? written;
  return isText(schema) || parsed(json) === undefined ? JSON.stringify(text) : json;
};

/** Objects and lists inside of each other: more is no call. */
const MAX_DEPTH = 64;

type Quoted = (input: Input) => Reading<string>;

/** Keys and values up to `end`, and how their texts are quoted: of these values, and of those inside of them. */
interface Members {
  readonly end: string;
  readonly between: string;
  readonly text: Quoted;
  readonly inner: Quoted;
}

/** What stands between commas, up to `end`. */
function* listed<T>(input: Input, end: string, one: () => Reading<T>): Reading<readonly T[]> {
  const found: T[] = [];
  while (!(yield* accept(input, end))) {
    const next = found.length === 0 || (yield* accept(input, ",")) ? yield* one() : null;
    if (next === null) return null;
    found.push(next);
  }
  return found;
}

/** An object, as JSON. */
function* members(input: Input, { end, between, text, inner }: Members, depth: number): Reading<string> {
  const written: readonly string[] | null = yield* listed(input, end, function* () {
    const key = (yield* text(input)) ?? (yield* word(input, KEY));
    const value = key !== null && (yield* accept(input, between)) ? yield* valueIn(input, text, inner, depth + 1) : null;
    return value === null ? null : `${JSON.stringify(key)}: ${value}`;
  });
  return written && `{${written.join(", ")}}`;
}

function* valueIn(input: Input, text: Quoted, inner: Quoted, depth: number): Reading<string> {
  if (depth > MAX_DEPTH) return null;
  if (yield* accept(input, "{")) return yield* members(input, { end: "}", between: ":", text: inner, inner }, depth);
  if (yield* accept(input, "[")) {
    const values: readonly string[] | null = yield* listed(input, "]", () => valueIn(input, inner, inner, depth + 1));
    return values && `[${values.join(", ")}]`;
  }
  const quoted = yield* text(input);
  if (quoted !== null) return JSON.stringify(quoted);
  const written = (yield* word(input, /[\w.+-]/)) ?? "";
  return WORDS[written] ?? (/^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)$/.test(written) ? written : null);
}

const unescaped = (quote: string, ends: readonly Sequence[]): Quoted =>
  function* (input) {
    return (yield* accept(input, quote)) ? yield* textUntil(input, quote, ends) : yield* escaped(input);
  };

const ESCAPE = /\\(?:u([\da-fA-F]{4})|U(00(?:0[\da-fA-F]|10)[\da-fA-F]{4})|x([\da-fA-F]{2})|([\s\S]))/g;
const ESCAPED: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/** A text as JSON or Python quotes it; null where none begins. */
function* escaped(input: Input): Reading<string> {
  const quote = (yield* accept(input, '"')) ? '"' : (yield* accept(input, "'")) ? "'" : null;
  if (quote === null) return null;
  const from = input.at;
  for (; yield* more(input); input.at += 1) {
    const character = input.text.charAt(input.at);
    if (character === "\\") input.at += 1;
    else if (character === quote) {
      input.at += 1;
      return input.text.slice(from, input.at - 1).replace(ESCAPE, (whole, short, long, byte, one) => {
        const code: string | undefined = short ?? long ?? byte;
        if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
        return ESCAPED[one] ?? (/["'\\/]/.test(one) ? one : whole);
      });
    }
  }
  return null;
}
