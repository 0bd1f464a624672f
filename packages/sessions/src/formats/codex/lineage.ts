import type { Parent } from "@imprint/contracts";
import { parentSession } from "../../draft.js";
import { isObject, isString, type JsonObject, objectOrEmpty, stringOrNull } from "../../values/json.js";

/** A fork writes the history that it copies within this time; a person's next request comes later. */
const BURST_MS = 2_500;

/** The session that one was forked from, or whose helper it is. */
export function parentOf(meta: JsonObject): Parent | null {
  const { thread_spawn } = objectOrEmpty(objectOrEmpty(meta.source).subagent);
  const caller = stringOrNull(objectOrEmpty(thread_spawn).parent_thread_id) ?? stringOrNull(meta.parent_thread_id);
  const source = stringOrNull(isTakenBack(meta) ? meta.id : meta.forked_from_id);
  return parentSession(caller, "sub-agent") ?? parentSession(source, "fork");
}

/** Whether it goes on from an earlier turn of a thread: in another file, which keeps the thread's id. */
const isTakenBack = (meta: JsonObject): boolean => isObject(meta.history_base) && stringOrNull(meta.forked_from_id) === null;

export const idOf = (meta: JsonObject): string | null => {
  const [id, at] = [stringOrNull(meta.id), stringOrNull(meta.timestamp)];
  return id !== null && at !== null && isTakenBack(meta) ? `${id}_${at.replaceAll(":", "-")}` : id;
};

/** Whether its file holds its parent's lines: newer forks refer to them. */
export const hasCopies = ({ history_base, forked_from_id, subagent_history_start_ordinal }: JsonObject): boolean =>
  !isObject(history_base) && (stringOrNull(forked_from_id) !== null || typeof subagent_history_start_ordinal === "number");

/** When an id of version 7 was made, in milliseconds since 1970. */
function madeAt(id: unknown): number | null {
  const [, time] = (isString(id) && /^([0-9a-f]{8}-[0-9a-f]{4})-7/i.exec(id)) || [];
  return time === undefined ? null : Number.parseInt(time.replace("-", ""), 16);
}

const instant = (time: unknown): number | null => {
  const at = isString(time) ? Date.parse(time) : Number.NaN;
  return Number.isNaN(at) ? null : at;
};

/** Finds the end of the history that a session copied from its parent, whose lines stand first in the file, with new times. */
export interface Copied {
  /** Whether the next line is the session's own, as all that follow it. */
  endsAt(record: JsonObject): boolean;
}

export function copiedHistory(meta: JsonObject, written: unknown): Copied {
  const since = madeAt(meta.id) ?? instant(meta.timestamp);
  const begun = instant(written);
  let knowsTurns = false;

  /** Turns keep the ids and times that they had in the parent. */
  const isOwnTurn = ({ turn_id, started_at }: JsonObject): boolean | null => {
    // The other time is in whole seconds.
    const started = madeAt(turn_id) ?? (typeof started_at === "number" ? (started_at + 1) * 1_000 : null);
    if (started === null || since === null) return null;
    knowsTurns = true;
    return started >= since;
  };
  const isLate = (record: JsonObject): boolean => {
    const at = instant(record.timestamp);
    return !knowsTurns && at !== null && begun !== null && at - begun > BURST_MS;
  };

  return {
    endsAt: (record) => {
      const [at, first] = [record.ordinal, meta.subagent_history_start_ordinal];
      if (typeof at === "number" && typeof first === "number") return at >= first;
      const payload = objectOrEmpty(record.payload);
      if (record.type === "session_meta") return payload.id === meta.id;
      if (/^inter_agent_communication/.test(String(record.type))) return Boolean(payload.trigger_turn);
      if (record.type === "turn_context" || payload.type === "task_started") return isOwnTurn(payload) ?? isLate(record);
      return isLate(record);
    },
  };
}
