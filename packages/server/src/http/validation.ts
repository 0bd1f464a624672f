import { fieldErrors } from "@imprint/contracts/fields";
import type { FastifySchemaCompiler, FastifySerializerCompiler, FastifyServerOptions } from "fastify";
import type { TObject, TSchema } from "typebox";
import { matches } from "../common/matches.js";
import { ProblemError } from "../common/problem.js";

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
export const validator: FastifySchemaCompiler<TSchema> =
  ({ schema, httpPart }) =>
  (data: unknown) => {
    const value = httpPart === "querystring" ? readQuery(schema as TObject, data as Record<string, unknown>) : data;
    return matches(schema, value) ? { value } : { error: refuse(schema, value) };
  };

const serializer: FastifySerializerCompiler<unknown> = () => (data) => JSON.stringify(data);

type Factories = NonNullable<NonNullable<FastifyServerOptions["schemaController"]>["compilersFactory"]>;

/** Given to Fastify when it is made, which then loads no compilers of its own. Its types name those, and it calls any. */
export const compilers = { buildValidator: () => validator, buildSerializer: () => serializer } as unknown as Factories;
