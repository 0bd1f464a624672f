import type { TSchema } from "typebox";
import { UsageError } from "../errors.js";

interface Shape {
  readonly type?: string;
  readonly anyOf?: readonly { readonly const?: unknown; readonly type?: string }[];
  readonly description?: string;
  readonly default?: unknown;
}

export const shapeOf = (schema: TSchema): Shape => schema as Shape;

/** Whether a flag without a value says it: what is on unless it is switched off takes true or false. */
export const isSwitch = (schema: TSchema): boolean => typeOf(schema) === "boolean" && shapeOf(schema).default === false;

/** The words that an enumeration allows; null when it is none. */
export function choicesOf(schema: TSchema): readonly string[] | null {
  if (typeOf(schema) === "boolean" && !isSwitch(schema)) return ["true", "false"];
  const words = shapeOf(schema).anyOf?.map((option) => option.const);
  return words?.every((word) => typeof word === "string") ? words : null;
}

/** The one type of the schema, or of the alternative that is not null. */
export function typeOf(schema: TSchema): string {
  const { type, anyOf } = shapeOf(schema);
  return type ?? anyOf?.find((option) => option.type !== undefined && option.type !== "null")?.type ?? "string";
}

/** How the value of a flag is called in the help. */
export function placeholderOf(schema: TSchema): string {
  const choices = choicesOf(schema);
  if (choices !== null) return choices.join("|");
  return { integer: "n", number: "x", array: "a,b,...", object: "name=text" }[typeOf(schema)] ?? "text";
}

const NUMBER = /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** A flag's text as the type that the schema asks for. Whether the value is allowed is the schema's to say. */
export function parseFlag(flag: string, schema: TSchema, given: string | boolean | readonly string[]): unknown {
  const type = typeOf(schema);
  if (type === "object" && Array.isArray(given)) {
    const pairs = given.map((pair: string) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]);
    if (given.some((pair: string) => !pair.includes("=")))
      throw new UsageError(`${flag} takes name=text, for example ${flag} ticket=42`);
    return Object.fromEntries(pairs);
  }
  if (typeof given !== "string") return given;
  if (type === "boolean") return given === "true";
  if (type === "array") return given.split(",").map((part) => part.trim());
  if (type !== "integer" && type !== "number") return given;
  if (!NUMBER.test(given))
    throw new UsageError(`${flag} takes ${type === "integer" ? "a whole number" : "a number"}, not "${given}"`);
  return Number(given);
}
