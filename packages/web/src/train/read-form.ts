import {
  sweepHoldoutFault,
  TrainHypernetworkRequest,
  TrainLoraRequest,
  TrainSweepRequest,
  trialsFault,
} from "@imprint/contracts";
import { type FieldError, fieldErrors } from "@imprint/contracts/fields";
import type { TSchema } from "typebox";
import { shapeOf } from "./schema-shape.js";

export type Method = "lora" | "sweep" | "hypernetwork";
export type Request = TrainLoraRequest | TrainSweepRequest | TrainHypernetworkRequest;
export type Values = Readonly<Record<string, string>>;

const { session_id: _session, session_ids: _sessions, resume_from: _resumed, ...lora } = TrainLoraRequest.properties;
const { session_id: _one, session_ids: _all, resume_from: _from, ...sweep } = TrainSweepRequest.properties;
const { trajectory_ids: _trajectories, ...hypernetwork } = TrainHypernetworkRequest.properties;

/** The fields of each method, from the schemas of the requests. */
export const FIELDS: Readonly<Record<Method, Readonly<Record<string, TSchema>>>> = { lora, sweep, hypernetwork };
const SCHEMAS: Readonly<Record<Method, TSchema>> = {
  lora: TrainLoraRequest,
  sweep: TrainSweepRequest,
  hypernetwork: TrainHypernetworkRequest,
};

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
const numbers = (text: string): readonly unknown[] => list(text).map((part) => (isNumber(part) ? Number(part) : part));

/** A comma makes a list, also of one: a session may be called 0.5. */
function readMixed(text: string): unknown {
  if (text.includes(",")) return list(text);
  return isNumber(text) ? Number(text) : text.trim();
}

/** A field's text as the value that its schema asks for; text that is none stays text, and is refused by the schema. */
export function readValue(schema: TSchema, text: string): unknown {
  const { type, ofNumbers } = shapeOf(schema);
  if (type === "mixed") return readMixed(text);
  if (type === "integer" || type === "number") return isNumber(text) ? Number(text) : text;
  if (type === "boolean") return text === "true";
  if (type === "array") return ofNumbers ? numbers(text) : list(text);
  if (type === "object") return pairs(text);
  return text.trim();
}

export interface Form {
  readonly method: Method;
  readonly sessionIds: readonly string[];
  readonly values: Values;
}

const sessionsOf = (method: Method, ids: readonly string[]): object => {
  if (method === "hypernetwork") return { trajectory_ids: [...ids] };
  return ids.length > 1 ? { session_ids: [...ids] } : ids.length === 1 ? { session_id: ids[0] } : {};
};

/** The request that a form describes: fields left empty are left out. */
export function requestOf({ method, sessionIds, values }: Form): Request {
  const given = Object.entries(FIELDS[method]).flatMap(([name, schema]) => {
    const text = values[name] ?? "";
    return text.trim() === "" ? [] : [[name, readValue(schema, text)] as const];
  });
  return { ...sessionsOf(method, sessionIds), ...Object.fromEntries(given) } as Request;
}

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

const flagsOf = (name: string, value: unknown): readonly string[] => {
  const flag = `--${name.replaceAll("_", "-")}`;
  if (Array.isArray(value)) return [flag, value.join(",")];
  if (typeof value === "object" && value !== null)
    return Object.entries(value).flatMap(([key, text]) => [flag, `${key}=${text}`]);
  return [flag, String(value)];
};

/** What starts the same training in a terminal. A switch that is off by itself takes no value. */
export function commandLine(form: Form): string {
  const fields = FIELDS[form.method];
  const flags = Object.entries(requestOf(form)).flatMap(([name, value]) => {
    if (!(name in fields)) return [];
    const isSwitch = (fields[name] as { readonly default?: unknown }).default === false;
    return isSwitch ? (value ? flagsOf(name, value).slice(0, 1) : []) : flagsOf(name, value);
  });
  const method = form.method === "hypernetwork" ? ["--method", "hypernetwork"] : [];
  const command = form.method === "sweep" ? "sweep" : "train";
  return ["imprint", command, ...form.sessionIds, ...method, ...flags, "--watch"].map(quoted).join(" ");
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

/** What no schema says of a sweep, where it says nothing wrong of the same field. */
const faultsOfSweep = (request: TrainSweepRequest, found: readonly FieldError[]): readonly FieldError[] =>
  [trialsFault(request), sweepHoldoutFault(request)].filter(
    (fault) => fault !== null && !found.some(({ path }) => path === fault.path),
  ) as readonly FieldError[];

export const checkForm = (form: Form): Values => {
  const request = requestOf(form);
  const found = fieldErrors(SCHEMAS[form.method], request);
  const more = form.method === "sweep" ? faultsOfSweep(request as TrainSweepRequest, found) : [];
  const problems = problemsByField([...found, ...more]);
  return form.sessionIds.length === 0 ? { ...problems, sessions: "choose at least one session" } : problems;
};
