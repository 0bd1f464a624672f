import { isObject, type JsonObject, objectsOf } from "../../values/json.js";

type Container = Record<string | number, unknown>;

/** A line of VS Code's log of changes: the whole state, a value set, elements put at a list's end, a value removed. */
const [INITIAL, SET, PUSH, REMOVE] = [0, 1, 2, 3];

export const isChange = ({ kind, k, v }: JsonObject): boolean =>
  (kind === INITIAL && isObject(v) && (Array.isArray(v.requests) || typeof v.sessionId === "string")) ||
  ((kind === SET || kind === PUSH || kind === REMOVE) && Array.isArray(k));

const isContainer = (value: unknown): value is Container => typeof value === "object" && value !== null;

/** Whether a step of a path leads to a place that an object or a list can have, and to nothing that it inherits. */
const leads = (at: Container, key: unknown): key is string | number =>
  Array.isArray(at)
    ? Number.isInteger(key) && Number(key) >= 0 && Number(key) <= at.length
    : typeof key === "string" && key !== "__proto__";

/** Puts elements at the end of a list, of which nothing stays from the place `i` on. */
function push(at: Container, key: string | number, { v: added, i: from }: JsonObject): void {
  const list = Object.hasOwn(at, key) && Array.isArray(at[key]) ? (at[key] as unknown[]) : [];
  if (typeof from === "number") list.length = Math.min(list.length, Math.max(0, Math.trunc(from)));
  if (Array.isArray(added)) for (const one of added) list.push(one);
  at[key] = list;
}

/** Applies a change to the state. False where its path leads nowhere. */
function apply(state: Container, change: JsonObject): boolean {
  const path = Array.isArray(change.k) ? change.k : [];
  const last: unknown = path.at(-1);
  let at = state;
  for (const key of path.slice(0, -1)) {
    const next = leads(at, key) && Object.hasOwn(at, key) ? at[key] : undefined;
    if (!isContainer(next)) return false;
    at = next;
  }
  if (!leads(at, last)) return false;
  if (change.kind === PUSH) push(at, last, change);
  else at[last] = change.kind === SET ? change.v : undefined;
  return true;
}

/** The state that a log of changes leads to. */
export interface Replay {
  /** False where the line changes nothing that is there. */
  accept(change: JsonObject): boolean;
  state(): JsonObject;
}

export function replay(): Replay {
  let state: Container = {};
  return {
    accept: (change) => {
      if (change.kind !== INITIAL) return apply(state, change);
      if (!isObject(change.v)) return false;
      state = change.v as Container;
      return true;
    },
    state: () => state,
  };
}

export const requestsOf = (state: JsonObject): readonly JsonObject[] => objectsOf(state.requests);
