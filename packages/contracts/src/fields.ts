import type { Static, TSchema } from "typebox";
import { Check, Errors } from "typebox/schema";
import { Settings } from "typebox/system";
import { refusalBy } from "./object.js";

// typebox/value would do the same with a tenth of a second more at start; the compiler would need eval in the browser.

/** One fault of a value, as TypeBox reports it. */
export interface Fault {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: {
    readonly requiredProperties?: readonly string[];
    readonly additionalProperties?: readonly string[];
    readonly allowedValue?: unknown;
    readonly type?: unknown;
    readonly passingSchemas?: readonly number[];
    readonly pattern?: unknown;
  };
  readonly message: string;
}

export const matches = <T extends TSchema>(schema: T, value: unknown): value is Static<T> => Check(schema as object, value);

/** TypeBox stops at eight, in the middle of a union of which nothing can be said then. */
const MAX_FAULTS = 1_000;

export const faultsOf = (schema: TSchema, value: unknown): readonly Fault[] => {
  Settings.Set({ maxErrors: MAX_FAULTS });
  return Errors(schema as object, value)[1] as readonly Fault[];
};

/** A wrong field by JSON pointer, as the service's answers and the dashboard's forms name it. */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

const MAX_ERRORS = 20;
const MAX_LENGTH = 140;

const short = (text: string): string => (text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text);

const TAG = "type";

/** The alternatives of a union that refuse a value, each by its faults. */
const alternativesIn = (union: Fault, faults: readonly Fault[]): readonly (readonly Fault[])[] => {
  const found = new Map<string, Fault[]>();
  for (const fault of faults) {
    const [index = ""] = fault.schemaPath.slice(`${union.schemaPath}/anyOf/`.length).split("/", 1);
    found.set(index, [...(found.get(index) ?? []), fault]);
  }
  return [...found.values()];
};

/**
 * What is wrong with a value that fits no alternative of a union: what those say that are of its kind, and have its `type`; where none
 * has, what `type` may be; where none is of its kind, what it may be.
 */
const ofUnion = (union: Fault, faults: readonly Fault[]): readonly Fault[] => {
  const isAtTag = ({ instancePath }: Fault): boolean => instancePath === `${union.instancePath}/${TAG}`;
  const isAtValue = ({ instancePath }: Fault): boolean => instancePath === union.instancePath;
  const lacksTag = (fault: Fault): boolean => isAtValue(fault) && (fault.params.requiredProperties?.includes(TAG) ?? false);
  const all = alternativesIn(union, faults);
  const ofKind = all.filter((one) => !one.some((fault) => isAtValue(fault) && ["type", "const", "not"].includes(fault.keyword)));
  const ofTag = ofKind.filter((one) => !one.some((fault) => isAtTag(fault) || lacksTag(fault)));
  if (ofTag.length > 0) return ofTag.flat();
  const tags = ofKind.flat().flatMap((fault) => {
    if (lacksTag(fault)) return [{ ...fault, params: { requiredProperties: [TAG] } }];
    return isAtTag(fault) && fault.keyword !== "pattern" ? [fault] : [];
  });
  if (tags.length > 0) return tags;
  const possible = all.flat().filter(({ keyword }) => keyword !== "not");
  const values = possible.filter(({ params }) => params.type !== "null");
  return values.length > 0 ? values : possible;
};

/** The faults without those of alternatives that nobody meant. Those of a union stand before it. */
const meant = (faults: readonly Fault[]): readonly Fault[] => {
  const kept: Fault[] = [];
  for (const fault of faults) {
    if (fault.keyword !== "anyOf") {
      // A constant of another kind has two faults.
      if (fault.keyword === "const" && kept.at(-1)?.schemaPath === fault.schemaPath) kept.pop();
      kept.push(fault);
      continue;
    }
    const first = kept.findLastIndex(
      ({ schemaPath, instancePath }) =>
        !(schemaPath.startsWith(`${fault.schemaPath}/anyOf/`) && `${instancePath}/`.startsWith(`${fault.instancePath}/`)),
    );
    kept.push(...ofUnion(fault, kept.splice(first + 1)));
  }
  return kept;
};

const choices = (faults: readonly Fault[], path: string): string => {
  const at = faults.filter(({ keyword, instancePath }) => keyword === "const" && instancePath === path);
  const values = [...new Set(at.map(({ params }) => JSON.stringify(params.allowedValue)))];
  return values.length === 1 ? `${values[0]}` : `one of ${values.join(", ")}`;
};

/** Fields of which exactly one must be there: what the alternatives of a body's `oneOf` require. The first stands for all. */
const alternativesOf = (schema: TSchema): readonly string[] =>
  ((schema as { readonly oneOf?: readonly { readonly required: readonly string[] }[] }).oneOf ?? []).flatMap(
    ({ required }) => required,
  );

/** A fault in a client's words: the path ends in the field that is missing or not known. */
const describe = (
  { keyword, instancePath, params, message }: Fault,
  faults: readonly Fault[],
  [first = "", ...others]: readonly string[],
): readonly FieldError[] => {
  if (keyword === "required")
    return (params.requiredProperties ?? [])
      .filter((name) => instancePath !== "" || !others.includes(name))
      .map((name) => ({ path: `${instancePath}/${name}`, message: "is required" }));
  if (keyword === "oneOf")
    return (params.passingSchemas ?? [])
      .slice(1)
      .map((index) => ({ path: `/${others[index - 1]}`, message: `cannot stand beside ${first}` }));
  if (keyword === "additionalProperties")
    return (params.additionalProperties ?? []).map((name) => ({
      path: `${instancePath}/${name}`,
      message: "is not a known field",
    }));
  if (keyword === "const") return [{ path: instancePath, message: `must be ${choices(faults, instancePath)}` }];
  if (keyword === "pattern") return [{ path: instancePath, message: refusalBy(params.pattern) }];
  if (keyword === "format") return [{ path: instancePath, message: "must be a day, such as 2026-12-31" }];
  if (message === "must be boolean") return [{ path: instancePath, message: "must be true or false" }];
  // "boolean" repeats an unknown field.
  return keyword === "boolean" ? [] : [{ path: instancePath, message }];
};

const MUST_BE = "must be ";

/** Of what may stand in one place: all in one sentence. */
const joined = (errors: readonly FieldError[]): readonly FieldError[] => {
  const whatFits = new Map<string, string[]>();
  for (const { path, message } of errors)
    if (message.startsWith(MUST_BE)) whatFits.set(path, [...(whatFits.get(path) ?? []), message.slice(MUST_BE.length)]);
  return errors.map(({ path, message }) => ({
    path,
    message: message.startsWith(MUST_BE) ? `${MUST_BE}${[...new Set(whatFits.get(path))].join(" or ")}` : message,
  }));
};

/** What is wrong with a value, one line a field and fault, the fields before the whole. */
export const fieldErrors = (schema: TSchema, value: unknown): readonly FieldError[] => {
  const faults = meant(faultsOf(schema, value));
  const alternatives = alternativesOf(schema);
  const errors = joined(faults.flatMap((fault) => describe(fault, faults, alternatives))).map(({ path, message }) => ({
    path: short(path),
    message: short(message),
  }));
  const unique = [...new Map(errors.map((error) => [`${error.path} ${error.message}`, error])).values()];
  // What is wrong inside a field says more than that the field fits no alternative.
  const named = unique.filter(({ path }) => path !== "" && !unique.some((other) => other.path.startsWith(`${path}/`)));
  return (named.length > 0 ? named : unique).slice(0, MAX_ERRORS);
};
