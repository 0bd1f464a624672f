import { type TProperties, type TSchemaOptions, type TUnsafe, Type } from "typebox";

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An object that refuses keys it does not name: nothing a client says is silently dropped. */
export const Strict = <P extends TProperties>(properties: P, options: TSchemaOptions = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options });

/** One of these strings. A union made by `map` would lose its literals: TypeScript takes its type for `never`. */
export function OneOf<Value extends string>(values: readonly Value[]): TUnsafe<Value> {
  return Type.Unsafe<Value>(Type.Union(values.map((value) => Type.Literal(value))));
}
