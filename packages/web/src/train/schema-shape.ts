import type { TSchema } from "typebox";

/** What a form needs to know of a field's schema. */
export interface Shape {
  /** `mixed`: one of `choices`, a number, or a list. */
  readonly type: "integer" | "number" | "boolean" | "array" | "object" | "choice" | "mixed" | "string";
  readonly description: string;
  readonly preset: string;
  readonly choices: readonly string[];
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  /** Of a list: whether its members are numbers. */
  readonly ofNumbers: boolean;
}

interface Known {
  readonly type?: "integer" | "number" | "boolean" | "array" | "object" | "string";
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: { readonly type?: string };
  readonly anyOf?: readonly { readonly const?: unknown; readonly type?: string }[];
}

const OPEN: ReadonlySet<string> = new Set(["integer", "number", "array"]);

export function shapeOf(schema: TSchema): Shape {
  const { type, description = "", default: preset, minimum, maximum, items, anyOf } = schema as Known;
  const choices = (anyOf ?? []).flatMap(({ const: one }) => (typeof one === "string" ? [one] : []));
  const isMixed = choices.length > 0 && (anyOf ?? []).some((member) => OPEN.has(member.type ?? ""));
  return {
    type: isMixed ? "mixed" : choices.length > 0 ? "choice" : (type ?? "string"),
    description,
    preset: preset === undefined || preset === false ? "" : String(preset),
    choices,
    minimum,
    maximum,
    ofNumbers: items?.type === "integer" || items?.type === "number",
  };
}
