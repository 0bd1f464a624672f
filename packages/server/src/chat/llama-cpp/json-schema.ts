import { isObject } from "@imprint/contracts";
import { ImprintError } from "../../common/error.js";

/** Rules of a llama.cpp grammar (GBNF) that hold a text to JSON schemas, with `", "` and `": "` between the parts as trainings write them. */
export interface SchemaRules {
  /** The rule of a schema. Throws ImprintError PROMPT_REFUSED that names what has no rule. */
  ruleOf(schema: unknown, what: string): string;
  /** Any JSON object. */
  readonly object: string;
  /** All rules so far, without a root. */
  text(): string;
}

type Schema = Readonly<Record<string, unknown>>;

const PRIMITIVES: Readonly<Record<string, string>> = {
  value: "object | array | string | number | boolean | null",
  object: '"{" (string ": " value (", " string ": " value)*)? "}"',
  array: '"[" (value (", " value)*)? "]"',
  string: '"\\"" char* "\\""',
  char: '[^"\\\\\\x7F\\x00-\\x1F] | [\\\\] (["\\\\/bfnrt] | "u" [0-9a-fA-F]{4})',
  number: 'integer ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,3})?',
  integer: '"-"? ("0" | [1-9] [0-9]{0,15})',
  boolean: '"true" | "false"',
  null: '"null"',
};

const ANNOTATIONS: ReadonlySet<string> = new Set(
  "title description default examples deprecated readOnly writeOnly $schema $id $comment $defs definitions".split(" "),
);
/** What else is read of a schema of each type. */
const OF_TYPE: Readonly<Record<string, readonly string[]>> = {
  object: ["properties", "required", "additionalProperties"],
  array: ["items", "minItems", "maxItems"],
  string: ["minLength", "maxLength"],
  number: [],
  integer: [],
  boolean: [],
  null: [],
};
/** llama.cpp writes repetitions out, and refuses long ones. */
const MOST = 1000;

const ESCAPES: Readonly<Record<string, string>> = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const inHex = (character: string): string => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0").toUpperCase()}`;

/** A text in a grammar. */
export const literal = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a grammar writes otherwise
  `"${text.replaceAll(/["\\\u0000-\u001f\u007f]/g, (character) => ESCAPES[character] ?? inHex(character))}"`;

/** As Python's `json.dumps` writes it, but for characters beyond ASCII, which stay. */
const json = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(json).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, inner]) => `${JSON.stringify(name)}: ${json(inner)}`)
    .join(", ")}}`;
};

export const schemaRules = (): SchemaRules => {
  const rules = new Map(Object.entries(PRIMITIVES));
  let count = 0;

  const named = (body: string): string => {
    count += 1;
    const name = `r${count}`;
    rules.set(name, body);
    return name;
  };

  const ruleOf = (root: unknown, what: string): string => {
    const references = new Map<string, string>();
    const refused = (why: string): ImprintError => new ImprintError("PROMPT_REFUSED", `The JSON schema of ${what} ${why}.`);

    const number = (schema: Schema, keyword: string, otherwise: number): number => {
      const value = schema[keyword] ?? otherwise;
      if (!Number.isInteger(value) || (value as number) < 0) throw refused(`has a ${keyword} that is no length`);
      if ((value as number) > MOST && value !== Number.POSITIVE_INFINITY) throw refused(`has a ${keyword} over ${MOST}`);
      return value as number;
    };
    const times = (least: number, most: number): string => (most === MOST + 1 ? `{${least},}` : `{${least},${most}}`);
    const bounds = (schema: Schema, [least, most]: readonly [string, string]): readonly [number, number] => {
      const [from, to] = [number(schema, least, 0), schema[most] === undefined ? MOST + 1 : number(schema, most, 0)];
      if (from > to) throw refused(`has a ${least} over its ${most}`);
      return [from, to];
    };

    const referred = (pointer: unknown): string => {
      if (typeof pointer !== "string" || !/^#(?:\/|$)/.test(pointer)) throw refused("has a $ref that does not begin with #");
      const known = references.get(pointer);
      if (known !== undefined) return known;
      const parts = pointer.split("/").slice(1);
      const found = parts.reduce<unknown>((inner, part) => {
        const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
        return isObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined;
      }, root);
      if (found === undefined) throw refused(`has a $ref to ${pointer}, which is not there`);
      const name = named("null"); // a place for what refers to itself
      references.set(pointer, name);
      const body = write(found);
      if (body === name) throw refused(`has a $ref to ${pointer} that refers to nothing else`);
      rules.set(name, body);
      return name;
    };

    const object = (schema: Schema): string => {
      const { properties = {}, required = [], additionalProperties } = schema;
      if (!isObject(properties) || !Array.isArray(required)) throw refused("has properties or required of another kind");
      const names = [...new Set([...Object.keys(properties), ...(required as string[])])];
      const isOpen =
        additionalProperties === true || isObject(additionalProperties) || (additionalProperties !== false && names.length === 0);
      const extra = isOpen
        ? named(`string ": " ${isObject(additionalProperties) ? write(additionalProperties) : "value"}`)
        : null;
      const pairs = names.map(
        (name) => `${literal(`${JSON.stringify(name)}: `)} ${write(Object.hasOwn(properties, name) ? properties[name] : {})}`,
      );
      const made = new Map<string, string>();
      /** What may follow the first `at` properties; `first`: none of them was written. */
      const from = (at: number, first: boolean): string => {
        const known = made.get(`${at} ${first}`);
        if (known !== undefined) return known;
        const name = names[at];
        const pair = (): string => `${first ? "" : '", " '}${pairs[at]} ${from(at + 1, false)}`;
        const end = extra === null ? '""' : first ? `(${extra} (", " ${extra})*)?` : `(", " ${extra})*`;
        const body = name === undefined ? end : required.includes(name) ? pair() : `${pair()} | ${from(at + 1, first)}`;
        const rule = named(body);
        made.set(`${at} ${first}`, rule);
        return rule;
      };
      return named(`"{" ${from(0, true)} "}"`);
    };

    const ofType = (type: string, schema: Schema): string => {
      if (type === "object") return object(schema);
      if (type === "array") {
        const [least, most] = bounds(schema, ["minItems", "maxItems"]);
        if (most === 0) return '"[]"';
        const item = write(schema.items ?? {});
        const items = `${item} (", " ${item})${times(Math.max(0, least - 1), most === MOST + 1 ? most : most - 1)}`;
        return named(`"[" ${least === 0 ? `(${items})?` : items} "]"`);
      }
      if (type !== "string") return type;
      const [least, most] = bounds(schema, ["minLength", "maxLength"]);
      return least === 0 && most === MOST + 1 ? "string" : named(`"\\"" char${times(least, most)} "\\""`);
    };

    const check = (schema: Schema, read: readonly string[]): void => {
      const strange = Object.keys(schema).find((keyword) => !ANNOTATIONS.has(keyword) && !read.includes(keyword));
      if (strange !== undefined) throw refused(`uses ${strange}, which no grammar is made of here`);
    };

    const choice = (alternatives: unknown): string => {
      if (!Array.isArray(alternatives) || alternatives.length === 0) throw refused("has an empty choice");
      return named(alternatives.map(write).join(" | "));
    };

    const write = (schema: unknown): string => {
      if (schema === true) return "value";
      if (!isObject(schema)) throw refused("has a part that is no schema");
      for (const keyword of ["$ref", "anyOf", "oneOf", "const", "enum"]) {
        if (!(keyword in schema)) continue;
        check(schema, keyword === "const" || keyword === "enum" ? [keyword, "type"] : [keyword]);
        const value = schema[keyword];
        if (keyword === "$ref") return referred(value);
        if (keyword === "const") return literal(json(value));
        if (keyword !== "enum") return choice(value);
        if (!Array.isArray(value) || value.length === 0) throw refused("has an empty enum");
        return named(value.map((one) => literal(json(one))).join(" | "));
      }
      const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? (schema.properties ? ["object"] : []));
      if (!Array.isArray(types)) throw refused("has a type of another kind");
      const unknown = types.find((type) => !Object.hasOwn(OF_TYPE, String(type)));
      if (unknown !== undefined) throw refused(`has the type ${JSON.stringify(unknown)}, which is none`);
      check(schema, ["type", ...types.flatMap((type) => OF_TYPE[String(type)] ?? [])]);
      if (types.length === 0) return "value";
      return types.length === 1
        ? ofType(String(types[0]), schema)
        : named(types.map((type) => ofType(String(type), schema)).join(" | "));
    };

    return write(root);
  };

  return { ruleOf, object: "object", text: () => [...rules].map(([name, body]) => `${name} ::= ${body}`).join("\n") };
};
