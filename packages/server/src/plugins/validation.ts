import type { FastifyInstance } from "fastify";
import type { TObject, TSchema } from "typebox";
import { Check, Errors } from "typebox/value";
import { type FieldError, ProblemError } from "../problem.js";

const MAX_ERRORS = 20;

interface Fault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

/** A fault as a client reads it: the path ends in the field that is missing or not known. */
const toFieldErrors = ({ keyword, instancePath, params, message }: Fault): readonly FieldError[] => {
  if (keyword === "required" && "requiredProperties" in params)
    return (params.requiredProperties as string[]).map((name) => ({ path: `${instancePath}/${name}`, message: "is required" }));
  if (keyword === "additionalProperties" && "additionalProperties" in params)
    return (params.additionalProperties as string[]).map((name) => ({
      path: `${instancePath}/${name}`,
      message: "is not a known field",
    }));
  return keyword === "boolean" ? [] : [{ path: instancePath, message }];
};

const short = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}...` : text);

const refuse = (schema: TSchema, value: unknown): ProblemError => {
  const all = Errors(schema, value)
    .flatMap((fault) => toFieldErrors(fault as Fault))
    .map(({ path, message }) => ({ path: short(path), message }));
  // A union reports each of its members; one line a field and message is enough.
  const unique = [...new Map(all.map((error) => [`${error.path} ${error.message}`, error])).values()].slice(0, MAX_ERRORS);
  const first = unique[0] ?? { path: "", message: "is invalid" };
  const field = first.path === "" ? "The body" : `Field ${first.path.slice(1).replaceAll("/", ".")}`;
  return new ProblemError("VALIDATION_FAILED", `${field} ${first.message}.`, { errors: unique });
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
    return Check(schema, value) ? { value } : { error: refuse(schema, value) };
  });
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
};
