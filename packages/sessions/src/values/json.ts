import { isObject } from "@imprint/contracts";

export { isObject };

export type JsonObject = { readonly [key: string]: unknown };

export const isString = (value: unknown): value is string => typeof value === "string";

/** The value when it is a string with at least one character, else null. */
export const stringOrNull = (value: unknown): string | null => (isString(value) && value !== "" ? value : null);

/** The value when it is an object, else an empty one, so that reading on needs no checks. */
export const objectOrEmpty = (value: unknown): JsonObject => (isObject(value) ? value : {});

export const arrayOrEmpty = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const objectsOf = (value: unknown): readonly JsonObject[] => arrayOrEmpty(value).filter(isObject);

/** JSON.parse that answers undefined instead of throwing. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** JSON.stringify that survives nesting deeper than the stack. */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch {
    return '"[nested too deeply]"';
  }
}

/** Texts and numbers as text; anything else, also an object whose own toString would throw, as nothing. */
export const scalarText = (value: unknown): string => (isString(value) ? value : typeof value === "number" ? String(value) : "");
