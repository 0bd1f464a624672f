import { isObject, isString, type JsonObject, parseJson } from "../values/json.js";

/** Fields of records whose value is a conversation. */
const CONVERSATIONS = ["messages", "trajectory", "conversations", "conversation", "history", "steps", "requests"];
/** A JSON text in a JSON text in a JSON text: deeper is no data set's. */
const DEPTH = 3;

function valueIn(text: string): unknown {
  let value: unknown = text;
  for (let depth = 0; depth < DEPTH && isString(value) && /^\s*["[{]/.test(value); depth++) value = parseJson(value);
  return value;
}

/** The rows of a page of a data set, as the Hub's server hands it out; any other record as it is. */
const rowsIn = (record: JsonObject): readonly JsonObject[] =>
  Array.isArray(record.features) && Array.isArray(record.rows)
    ? record.rows.flatMap((one) => (isObject(one) && isObject(one.row) ? [one.row] : []))
    : [record];

/**
 * The record with its conversation as a list. Data sets keep conversations as JSON text, so that a column has one type, and a
 * whole document in the field `trajectory` of a row: then the document is the record, with what the row says beside it.
 */
function withList(record: JsonObject): JsonObject {
  let plain = record;
  for (const field of CONVERSATIONS) {
    const held = record[field];
    const inner = isString(held) ? valueIn(held) : held;
    if (isObject(inner) && (field === "trajectory" || isString(held))) {
      const { [field]: _, ...row } = plain;
      plain = { ...row, ...inner };
    } else if (isString(held) && Array.isArray(inner) && inner.every(isObject)) plain = { ...plain, [field]: inner };
  }
  return plain;
}

/** The records that a record holds, each with its conversation as a list. */
export const unwrapped = (record: JsonObject): readonly JsonObject[] => rowsIn(record).map(withList);
