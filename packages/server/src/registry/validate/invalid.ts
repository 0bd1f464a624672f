import { faultsOf, matches } from "@imprint/contracts/fields";
import type { Static, TSchema } from "typebox";

/** The adapter's files are not what an adapter must be; the message names the file's fault in one sentence. */
export class InvalidAdapterError extends Error {
  override readonly name = "InvalidAdapterError";
}

/** The value, typed, or an error that names what it is part of and the first fault. */
export const check = <T extends TSchema>(schema: T, value: unknown, what: string): Static<T> => {
  if (matches(schema, value)) return value;
  const [first] = faultsOf(schema, value);
  throw new InvalidAdapterError(
    `${what}: ${first?.instancePath ?? ""} ${first?.message ?? "is invalid"}`.replaceAll(/\s+/g, " "),
  );
};
