/** What of JSON Schema the OpenAPI document uses to say what a value is. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly pattern?: string;
}

/** What callers send by mistake, and what others send on purpose. */
const ODD: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  "",
  " ",
  "NaN",
  "../../etc/passwd",
  "a\u0000b",
  "\ud800",
  "𝕏🧪",
  "x".repeat(10_000),
  "%00",
  "'; drop table jobs; --",
  [],
  [[]],
  {},
  { a: { a: { a: {} } } },
];

/** Numbers in [0, 1). */
export type Random = () => number;

export const pick = <Value>(random: Random, values: readonly Value[]): Value =>
  values[Math.floor(random() * values.length)] as Value;

export const odd = (random: Random): unknown => pick(random, ODD);

/** Strings that a field of this name takes. */
export type Words = (name: string) => readonly string[];

/** A value that a schema takes, as far as its keywords say so. */
export function valid(random: Random, schema: Schema, words: Words, name = ""): unknown {
  const among = (of: Schema): unknown => valid(random, of, words, name);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return pick(random, schema.enum);
  if (schema.anyOf) return among(pick(random, schema.anyOf));
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map(among));
  const type = typeof schema.type === "string" ? schema.type : pick(random, schema.type ?? ["string", "number", "object"]);
  if (type === "object") return validObject(random, schema, words);
  if (type === "array") {
    const length = (schema.minItems ?? 0) + Math.floor(random() * 3);
    return Array.from({ length }, () => among(schema.items ?? {}));
  }
  if (type === "boolean") return random() < 0.5;
  if (type === "null") return null;
  if (type === "string") return validString(random, schema, words(name));
  return validNumber(random, schema, type);
}

function validObject(random: Random, schema: Schema, words: Words): object {
  const { properties = {}, required = [], additionalProperties } = schema;
  const share = pick(random, [0, 0.1, 0.4]);
  const named = Object.entries(properties).filter(([name]) => required.includes(name) || random() < share);
  const made = Object.fromEntries(named.map(([name, of]) => [name, valid(random, of, words, name)]));
  if (typeof additionalProperties === "object" && random() < 0.5)
    made[pick(random, words(""))] = valid(random, additionalProperties, words);
  return made;
}

function validString(random: Random, { pattern, minLength = 0 }: Schema, words: readonly string[]): string {
  const fits = new RegExp(pattern ?? "", "u");
  const fitting = words.filter((word) => fits.test(word) && word.length >= minLength);
  return pick(random, fitting.length > 0 ? fitting : words);
}

function validNumber(random: Random, { minimum, maximum, exclusiveMinimum }: Schema, type: string | undefined): number {
  const low = minimum ?? exclusiveMinimum ?? 0;
  const high = maximum ?? Math.max(low + 1, 10) * 2;
  const number = low + random() * (high - low);
  return type === "integer" ? Math.ceil(number) : number;
}

/** A value with one place changed: another value there, a member that went, or one that nobody knows. */
export function broken(random: Random, value: unknown): unknown {
  if (typeof value !== "object" || value === null || random() < 0.15) return odd(random);
  if (Array.isArray(value)) {
    if (value.length === 0) return [odd(random)];
    const at = Math.floor(random() * value.length);
    return value.map((one, index) => (index === at ? broken(random, one) : one));
  }
  const entries = Object.entries(value);
  const how = random();
  if (entries.length === 0 || how < 0.15) return { ...value, unheard_of: odd(random) };
  const at = Math.floor(random() * entries.length);
  if (how < 0.3) return Object.fromEntries(entries.filter((_, index) => index !== at));
  return Object.fromEntries(entries.map(([name, one], index) => [name, index === at ? broken(random, one) : one]));
}
