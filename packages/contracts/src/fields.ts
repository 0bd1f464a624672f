import type { Static, TSchema } from "typebox";
import { Check, Errors } from "typebox/schema";

// typebox/value would do the same with a tenth of a second more at start; the compiler would need eval in the browser.

/** One fault of a value, as TypeBox reports it. */
export interface Fault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: {
    readonly requiredProperties?: readonly string[];
    readonly additionalProperties?: readonly string[];
    readonly allowedValue?: unknown;
    readonly passingSchemas?: readonly number[];
  };
  readonly message: string;
}

export const matches = <T extends TSchema>(schema: T, value: unknown): value is Static<T> => Check(schema as object, value);

export const faultsOf = (schema: TSchema, value: unknown): readonly Fault[] =>
  Errors(schema as object, value)[1] as readonly Fault[];

/** A wrong field by JSON pointer, as the service's answers and the dashboard's forms name it. */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

const MAX_ERRORS = 20;
const MAX_LENGTH = 100;

const short = (text: string): string => (text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text);

const choices = (faults: readonly Fault[], path: string): string =>
  faults
    .filter(({ keyword, instancePath }) => keyword === "const" && instancePath === path)
    .map(({ params }) => JSON.stringify(params.allowedValue))
    .join(", ");

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
  if (keyword === "const") return [{ path: instancePath, message: `must be one of ${choices(faults, instancePath)}` }];
  // "boolean" repeats an unknown field, "anyOf" its members.
  return keyword === "boolean" || keyword === "anyOf" ? [] : [{ path: instancePath, message }];
};

/** What is wrong with a value, one line a field and fault, the fields before the whole. */
export const fieldErrors = (schema: TSchema, value: unknown): readonly FieldError[] => {
  const faults = faultsOf(schema, value);
  const alternatives = alternativesOf(schema);
  const errors = faults
    .flatMap((fault) => describe(fault, faults, alternatives))
    .map(({ path, message }) => ({ path: short(path), message: short(message) }));
  const unique = [...new Map(errors.map((error) => [`${error.path} ${error.message}`, error])).values()];
  // What is wrong inside a field says more than that the field fits no alternative.
  const named = unique.filter(({ path }) => path !== "" && !unique.some((other) => other.path.startsWith(`${path}/`)));
  return (named.length > 0 ? named : unique).slice(0, MAX_ERRORS);
};
