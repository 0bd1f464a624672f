import type { TSchema } from "typebox";
import { UsageError } from "../errors.js";

interface Shape {
  readonly const?: unknown;
  readonly type?: string;
  readonly anyOf?: readonly TSchema[];
  readonly description?: string;
  readonly default?: unknown;
}

export const shapeOf = (schema: TSchema): Shape => schema as Shape;

/** Whether a flag without a value says it: what is on unless it is switched off takes true or false. */
export const isSwitch = (schema: TSchema): boolean => typeOf(schema) === "boolean" && shapeOf(schema).default === false;

const wordsOf = (schema: TSchema): readonly string[] =>
  (shapeOf(schema).anyOf ?? []).map((option) => shapeOf(option).const).filter((word) => typeof word === "string");

/** The words that an enumeration allows; null when it is none. */
export function choicesOf(schema: TSchema): readonly string[] | null {
  if (typeOf(schema) === "boolean" && !isSwitch(schema)) return ["true", "false"];
  const words = wordsOf(schema);
  return words.length > 0 && words.length === shapeOf(schema).anyOf?.length ? words : null;
}

/** The alternatives of a flag that takes words as well as other values; null for any other flag. */
export const mixedOf = (schema: TSchema): readonly TSchema[] | null =>
  wordsOf(schema).length > 0 && choicesOf(schema) === null ? (shapeOf(schema).anyOf ?? null) : null;

/** The one type of the schema, or of the alternative that is not null. */
export function typeOf(schema: TSchema): string {
  const { type, anyOf } = shapeOf(schema);
  return type ?? anyOf?.map((option) => shapeOf(option).type).find((one) => one !== undefined && one !== "null") ?? "string";
}

/** How the value of a flag is called in the help. */
export function placeholderOf(schema: TSchema): string {
  const choices = choicesOf(schema);
  if (choices !== null) return choices.join("|");
  const mixed = mixedOf(schema);
  if (mixed !== null) return mixed.map((option) => shapeOf(option).const ?? placeholderOf(option)).join("|");
  return { integer: "n", number: "x", array: "a,b,...", object: "name=text" }[typeOf(schema)] ?? "text";
}

const NUMBER = /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

const list = (text: string): readonly string[] => text.split(",").map((part) => part.trim());

/** A list of what the schema's items are. */
const itemsOf = (flag: string, schema: TSchema, given: string): unknown[] => {
  const { items } = schema as { readonly items?: TSchema };
  return list(given).map((part) => (items === undefined ? part : parseFlag(flag, items, part)));
};

/** A flag's text as the type that the schema asks for. Whether the value is allowed is the schema's to say. */
export function parseFlag(flag: string, schema: TSchema, given: string | boolean | readonly string[]): unknown {
  const mixed = mixedOf(schema);
  if (mixed !== null && typeof given === "string") {
    if (wordsOf(schema).includes(given)) return given;
    const types = mixed.map(typeOf);
    if (NUMBER.test(given) && types.some((one) => one === "integer" || one === "number")) return Number(given);
    if (types.includes("array")) return list(given);
    throw new UsageError(`${flag} takes ${placeholderOf(schema)}, not "${given}"`);
  }
  const type = typeOf(schema);
  if (type === "object" && Array.isArray(given)) {
    const pairs = given.map((pair: string) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]);
    if (given.some((pair: string) => !pair.includes("=")))
      throw new UsageError(`${flag} takes name=text, for example ${flag} ticket=42`);
    return Object.fromEntries(pairs);
  }
  if (typeof given !== "string") return given;
  if (type === "boolean") return given === "true";
  if (type === "array") return itemsOf(flag, schema, given);
  if (type !== "integer" && type !== "number") return given;
  if (!NUMBER.test(given))
    throw new UsageError(`${flag} takes ${type === "integer" ? "a whole number" : "a number"}, not "${given}"`);
  return Number(given);
}
