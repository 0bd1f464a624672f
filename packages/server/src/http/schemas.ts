import { ERRORS, type ErrorCode, Strict } from "@imprint/contracts";
import { type TSchema, Type } from "typebox";

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
export const problems = (...codes: readonly ErrorCode[]): Record<string, unknown> => {
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
