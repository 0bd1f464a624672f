import { type Static, type TObject, type TProperties, type TSchema, type TSchemaOptions, type TUnsafe, Type } from "typebox";

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An object that refuses keys it does not name: nothing a client says is silently dropped. */
export const Strict = <P extends TProperties>(properties: P, options: TSchemaOptions = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options });

/** One of these strings. A union made by `map` would lose its literals: TypeScript takes its type for `never`. */
export function OneOf<Value extends string>(values: readonly Value[]): TUnsafe<Value> {
  return Type.Unsafe<Value>(Type.Union(values.map((value) => Type.Literal(value))));
}

const WORDS = new Map<string, string>();

/** A pattern whose refusals say what it allows in words, after "must be": nobody reads a regular expression. */
export const worded = (pattern: string, words: string): { readonly pattern: string } => {
  WORDS.set(pattern, words);
  return { pattern };
};

/** What is said of a text that a pattern refuses. */
export const refusalBy = (pattern: unknown): string => {
  const words = WORDS.get(String(pattern));
  return words === undefined ? "has characters that cannot stand there" : `must be ${words}`;
};

const SIGNS = "digits, dots, dashes and underscores, a letter or digit first";

/** Small letters and signs, at most so many characters. */
export const smallName = (most: number, example: string): string =>
  `small letters, ${SIGNS}, at most ${most} characters, such as ${example}`;

/** Letters and signs, at most so many characters. */
export const anyName = (most: number): string => `letters, ${SIGNS}, at most ${most} characters`;

/** 95 %: from, to. Not Type.Tuple, whose list of items JSON Schema does not know any more (OpenAPI 3.1). */
export const Interval = Type.Unsafe<[number, number]>(Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }));

const NULL = { type: "null" };

const orNull = (schema: TSchema): TSchema => {
  const { type, anyOf, ...rest } = schema as { readonly type?: string; readonly anyOf?: readonly object[] };
  if (anyOf) return { ...rest, anyOf: [...anyOf, NULL] };
  return { ...rest, type: [type, "null"] };
};
const isOptional = ({ properties, required }: TObject, field: string): boolean =>
  Object.hasOwn(properties, field) && !(required as readonly string[] | undefined)?.includes(field);

/** A body whose optional fields may be null, which means left out: `withoutNulls` leaves them out. */
export const NullsLeftOut = <T extends TObject>(schema: T): TUnsafe<Static<T>> => {
  const properties = Object.entries<TSchema>(schema.properties).map(([field, property]) => [
    field,
    isOptional(schema, field) ? orNull(property) : property,
  ]);
  return Type.Unsafe<Static<T>>({ ...schema, properties: Object.fromEntries(properties) });
};

/** The body without its optional fields that are null; what is no object stays as it is. */
export const withoutNulls = (schema: TObject, body: unknown): unknown =>
  isObject(body)
    ? Object.fromEntries(Object.entries(body).filter(([field, value]) => value !== null || !isOptional(schema, field)))
    : body;
