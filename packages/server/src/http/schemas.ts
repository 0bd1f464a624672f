import { ERRORS, type ErrorCode, NullsLeftOut, StartResponse, Strict, withoutNulls } from "@imprint/contracts";
import { fieldErrors, matches } from "@imprint/contracts/fields";
import type { FastifySchemaCompiler, FastifySerializerCompiler, FastifyServerOptions } from "fastify";
import { type Static, type TObject, type TSchema, type TUnsafe, Type } from "typebox";
import { ProblemError } from "../common/error.js";

/** Body of calls that take none: absent, or an empty object. */
export const NoBody = Type.Union([Type.Null(), Strict({})]);

/** An id in a path: any text here, matched by the handler, so that a malformed one is 404 like an unknown one. */
export const idParams = <Name extends string>(name: Name) =>
  Type.Object({ [name]: Type.String() } as { [Key in Name]: ReturnType<typeof Type.String> });

export const Limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: "Entries on a page" }));
export const DEFAULT_LIMIT = 100;

/** A query value that is an id or a name: bounded, and otherwise just text to compare with. */
export const Text = Type.Optional(Type.String({ minLength: 1, maxLength: 256 }));

export const Prefix = Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: "What the id begins with" }));

/** The error answers of a route by status, for its response schemas. */
export const problems = (...codes: readonly ErrorCode[]): Record<string, { readonly description: string }> => {
  const statusOf = (code: ErrorCode): number => ERRORS[code].status ?? 500;
  const statuses = [...new Set(codes.map(statusOf))];
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: codes
          .filter((code) => statusOf(code) === status)
          .map((code) => `\`${code}\`: ${ERRORS[code].title}`)
          .join("; "),
        content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
      },
    ]),
  );
};

/** A JSON answer, described for the document. */
export const answer = (description: string, schema: TSchema) => ({ description, content: { "application/json": { schema } } });

/** Server-sent events, described by the data of one. */
export const eventStream = (description: string, schema: TSchema) => ({
  description,
  content: { "text/event-stream": { schema } },
});

export const noContent = (description: string) => ({ description, type: "null" });

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
const validator: FastifySchemaCompiler<TSchema> =
  ({ schema, httpPart }) =>
  (data: unknown) => {
    const value = httpPart === "querystring" ? readQuery(schema as TObject, data as Record<string, unknown>) : data;
    return matches(schema, value) ? { value } : { error: refuse(schema, value) };
  };
const serializer: FastifySerializerCompiler<unknown> = () => (data) => JSON.stringify(data);
type Factories = NonNullable<NonNullable<FastifyServerOptions["schemaController"]>["compilersFactory"]>;

/** Given to Fastify when it is made, which then loads no compilers of its own. Its types name those, and it calls any. */
export const compilers = { buildValidator: () => validator, buildSerializer: () => serializer } as unknown as Factories;

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

/** Why a call is refused that queues a job, needs a base model, or tests adapters on sessions. */
export const QUEUED = ["IDEMPOTENCY_CONFLICT", "QUEUE_FULL", "SHUTTING_DOWN"] as const;
export const BASE_MODEL = ["BASE_MODEL_NOT_FOUND", "BASE_MODEL_UNSAFE", "BASE_MODEL_INVALID"] as const;
export const TESTED = ["SESSION_NOT_FOUND", "SESSION_INVALID", "ADAPTER_INVALID", "NOTHING_TO_EVALUATE"] as const;

const CHECKPOINT = ["JOB_NOT_FINISHED", "CHECKPOINT_NOT_FOUND", "CHECKPOINT_INVALID"] as const;
/** Why a call that starts a training is refused. */
export const startProblems = problems("ADAPTER_ID_TAKEN", ...CHECKPOINT, ...BASE_MODEL, ...QUEUED);
/** Its answers. */
export const startResponse = { 200: answer("The job is queued", StartResponse), ...startProblems };
