import { NullsLeftOut, withoutNulls } from "@imprint/contracts";
import type { FastifySchemaCompiler } from "fastify";
import type { Static, TObject, TSchema, TUnsafe } from "typebox";
import { validator } from "./validation.js";

/** The body of a start call, whose optional fields may be null: they are left out before the rest is validated. */
export const startBody = <T extends TObject>(
  schema: T,
): { readonly body: TUnsafe<Static<T>>; readonly validatorCompiler: FastifySchemaCompiler<TSchema> } => ({
  body: NullsLeftOut(schema),
  validatorCompiler: (part) => {
    if (part.httpPart !== "body") return validator(part);
    const validate = validator({ ...part, schema });
    return (data: unknown) => validate(withoutNulls(schema, data));
  },
});
