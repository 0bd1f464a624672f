import type { Static, TSchema } from "typebox";
import { Check, Errors } from "typebox/value";
import { InvalidAdapterError } from "./invalid.js";

/** The value, typed, or an error that names what it is part of and the first fault. */
export const check = <T extends TSchema>(schema: T, value: unknown, what: string): Static<T> => {
  if (Check(schema, value)) return value as Static<T>;
  const [first] = Errors(schema, value);
  throw new InvalidAdapterError(
    `${what}: ${first?.instancePath ?? ""} ${first?.message ?? "is invalid"}`.replaceAll(/\s+/g, " "),
  );
};
