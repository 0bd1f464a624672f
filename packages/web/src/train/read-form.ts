import { TrainHypernetworkRequest, TrainLoraRequest } from "@imprint/contracts";
import { type FieldError, fieldErrors } from "@imprint/contracts/fields";
import type { TSchema } from "typebox";
import { shapeOf } from "./schema-shape.js";

export type Method = "lora" | "hypernetwork";
export type Values = Readonly<Record<string, string>>;

const { session_id: _session, session_ids: _sessions, resume_from: _resumed, ...lora } = TrainLoraRequest.properties;
const { trajectory_ids: _trajectories, ...hypernetwork } = TrainHypernetworkRequest.properties;

/** The fields of each method, from the schemas of the requests. */
export const FIELDS: Readonly<Record<Method, Readonly<Record<string, TSchema>>>> = { lora, hypernetwork };

const isNumber = (text: string): boolean => text.trim() !== "" && Number.isFinite(Number(text));

/** One line `name=value` each; a line without `=` is a name with nothing, which the schema judges. */
const pairs = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => {
        const [name = "", ...rest] = line.split("=");
        return [name.trim(), rest.join("=").trim()];
      }),
  );

const list = (text: string): readonly string[] => text.split(/[\s,]+/).filter((part) => part !== "");

/** A comma makes a list, also of one: a session may be called 0.5. */
function readMixed(text: string): unknown {
  if (text.includes(",")) return list(text);
  return isNumber(text) ? Number(text) : text.trim();
}

/** A field's text as the value that its schema asks for; text that is none stays text, and is refused by the schema. */
export function readValue(schema: TSchema, text: string): unknown {
  const { type } = shapeOf(schema);
  if (type === "mixed") return readMixed(text);
  if (type === "integer" || type === "number") return isNumber(text) ? Number(text) : text;
  if (type === "boolean") return text === "true";
  if (type === "array") return list(text);
  if (type === "object") return pairs(text);
  return text.trim();
}

interface Form {
  readonly method: Method;
  readonly sessionIds: readonly string[];
  readonly values: Values;
}

const sessionsOf = (method: Method, ids: readonly string[]): object => {
  if (method === "hypernetwork") return { trajectory_ids: [...ids] };
  return ids.length > 1 ? { session_ids: [...ids] } : ids.length === 1 ? { session_id: ids[0] } : {};
};

/** The request that a form describes: fields left empty are left out. */
export function requestOf({ method, sessionIds, values }: Form): TrainLoraRequest | TrainHypernetworkRequest {
  const given = Object.entries(FIELDS[method]).flatMap(([name, schema]) => {
    const text = values[name] ?? "";
    return text.trim() === "" ? [] : [[name, readValue(schema, text)] as const];
  });
  return { ...sessionsOf(method, sessionIds), ...Object.fromEntries(given) } as TrainLoraRequest | TrainHypernetworkRequest;
}

const SESSION_FIELDS: ReadonlySet<string> = new Set(["session_id", "session_ids", "trajectory_ids"]);

/** Sentences by field, in the service's words: both take them from the same schemas. */
export function problemsByField(errors: readonly FieldError[]): Values {
  const found: Record<string, string> = {};
  for (const { path, message } of errors) {
    const [, name = "", key = ""] = path.split("/");
    const field = SESSION_FIELDS.has(name) ? "sessions" : name;
    const sentence =
      field === "sessions" && message === "is required"
        ? "choose at least one session"
        : /^\d*$/.test(key)
          ? message
          : `${key} ${message}`;
    found[field] = found[field] === undefined ? sentence : `${found[field]}; ${sentence}`;
  }
  return found;
}

export const checkForm = (form: Form): Values => {
  const schema = form.method === "lora" ? TrainLoraRequest : TrainHypernetworkRequest;
  const request = requestOf(form);
  if (form.sessionIds.length === 0)
    return { ...problemsByField(fieldErrors(schema, request)), sessions: "choose at least one session" };
  return problemsByField(fieldErrors(schema, request));
};
