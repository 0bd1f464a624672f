import { refusalBy, type TrainOn } from "@imprint/contracts";
import { Option } from "commander";
import type { TSchema } from "typebox";
import { Errors } from "typebox/value";
import { UsageError } from "../errors.js";
import { choicesOf, isSwitch, mixedOf, parseFlag, placeholderOf, shapeOf, typeOf } from "./text.js";

const WORDS = ["all", "successful_steps", "final_answer"] as const;
const TURNS = /^turns:(\d{1,9}(?:,\d{1,9})*)$/;

/** How --train-on is written. */
const TRAIN_ON_FORM = [...WORDS, "turns:n,n,..."].join("|");

function readTrainOn(text: string): TrainOn {
  const word = WORDS.find((known) => known === text);
  if (word !== undefined) return word;
  const [, numbers] = TURNS.exec(text) ?? [];
  if (numbers === undefined)
    throw new UsageError(`--train-on takes ${WORDS.join(", ")} or turns:1,3 (numbers of turns, from 0), not "${text}"`);
  return { turns: [...new Set(numbers.split(",").map(Number))] };
}

export type Properties = Readonly<Record<string, TSchema>>;

export const flagOf = (property: string): string => `--${property.replaceAll("_", "-")}`;

/** The option of a property: its description, default and choices are the schema's. */
export function optionOf(property: string, schema: TSchema): Option {
  const { description = "", default: preset } = shapeOf(schema);
  const shown =
    preset === undefined || preset === false || preset === null || /default/i.test(description) ? "" : ` (default: ${preset})`;
  const form = property === "train_on" ? TRAIN_ON_FORM : placeholderOf(schema);
  const value = isSwitch(schema) ? "" : ` <${form}>`;
  const option = new Option(`${flagOf(property)}${value}`, `${description}${shown}`.trim());
  const choices = choicesOf(schema);
  if (choices !== null) option.choices(choices);
  if (typeOf(schema) === "object") option.argParser((pair: string, before: string[] | undefined) => [...(before ?? []), pair]);
  return option;
}

/** The properties among the options that were given, as the schema's types. */
export function readFlags(properties: Properties, options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(properties).flatMap(([property, schema]) => {
    const given = options[new Option(flagOf(property)).attributeName()];
    if (given === undefined) return [];
    if (property === "train_on") return [[property, readTrainOn(String(given))]];
    return [[property, parseFlag(flagOf(property), schema, given as string | boolean | readonly string[])]];
  });
  return Object.fromEntries(entries);
}

const formOf = (schema: TSchema): string => {
  const {
    const: word,
    minimum,
    exclusiveMinimum,
    maximum,
  } = schema as {
    readonly const?: unknown;
    readonly minimum?: number;
    readonly exclusiveMinimum?: number;
    readonly maximum?: number;
  };
  if (word !== undefined) return String(word);
  if (minimum !== undefined) return `${minimum} to ${maximum}`;
  return exclusiveMinimum === undefined ? placeholderOf(schema) : `more than ${exclusiveMinimum} to ${maximum}`;
};

/** Throws a UsageError that names the flag when the request breaks its schema. `names` says how else a property was given. */
export function checkRequest(schema: TSchema, request: unknown, names: Readonly<Record<string, string>> = {}): void {
  const { properties } = schema as unknown as { readonly properties: Properties };
  const wrong = Errors(schema, request).map(({ instancePath, message, keyword, params }) => {
    const [, property = ""] = instancePath.split("/");
    const name = names[property] ?? flagOf(property);
    const mixed = properties[property] && mixedOf(properties[property]);
    if (mixed) return `${name} takes ${mixed.map(formOf).join(", ")}`;
    return `${name} ${keyword === "pattern" ? refusalBy(params.pattern) : message}`;
  });
  if (wrong.length > 0) throw new UsageError([...new Set(wrong)].join("\n"));
}
