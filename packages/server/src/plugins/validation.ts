import type { FastifyInstance } from "fastify";
import type { TObject, TSchema } from "typebox";
import { ProblemError } from "../problem.js";
import { matches } from "../validate.js";
import { fieldErrors } from "./field-errors.js";

const refuse = (schema: TSchema, value: unknown): ProblemError => {
  const errors = fieldErrors(schema, value);
  const { path, message } = errors[0] ?? { path: "", message: "is invalid" };
  const field = path === "" ? "The body" : `Field ${path.slice(1).replaceAll("/", ".")}`;
  return new ProblemError("VALIDATION_FAILED", `${field} ${message}.`, { errors });
};

/** Text of a query string as the number or boolean that its schema asks for; anything else stays text and is refused. */
const readQuery = (schema: TObject, query: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(query).map(([name, text]) => {
      const { type } = (schema.properties[name] ?? {}) as { readonly type?: string };
      if (type === "integer" && typeof text === "string" && /^\d{1,9}$/.test(text)) return [name, Number(text)];
      if (type === "boolean" && (text === "true" || text === "false")) return [name, text === "true"];
      return [name, text];
    }),
  );

/** Validates with the TypeBox schemas themselves: nothing is coerced, removed or defaulted in a body. */
export const addValidation = (app: FastifyInstance): void => {
  app.setValidatorCompiler<TSchema>(({ schema, httpPart }) => (data: unknown) => {
    const value = httpPart === "querystring" ? readQuery(schema as TObject, data as Record<string, unknown>) : data;
    return matches(schema, value) ? { value } : { error: refuse(schema, value) };
  });
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
};
