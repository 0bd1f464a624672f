import type { Static, TSchema } from "typebox";
import { Check } from "typebox/schema";

export const matches = <T extends TSchema>(schema: T, value: unknown): value is Static<T> => Check(schema as object, value);
