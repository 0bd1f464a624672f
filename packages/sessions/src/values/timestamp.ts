import { isString } from "./json.js";

const HAS_ZONE = /(?:Z|[+-]\d\d:?\d\d)$/i;
/** Epoch numbers below this are seconds, above it milliseconds. */
const SECONDS_LIMIT = 1e11;

/** An instant in ISO 8601 UTC, or null when the value is none. Times without a zone are UTC. */
export function timestampOrNull(value: unknown): string | null {
  const date = isString(value) ? parseText(value.trim()) : typeof value === "number" ? parseEpoch(value) : null;
  if (date === null || !Number.isFinite(date.getTime())) return null;
  const iso = date.toISOString();
  // The same string where it is one already: a second one for each of very many turns would be held.
  return iso === value ? value : iso;
}

const parseEpoch = (value: number): Date => new Date(value < SECONDS_LIMIT ? value * 1000 : value);

function parseText(text: string): Date | null {
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return null;
  const iso = text.replace(" ", "T");
  return new Date(HAS_ZONE.test(iso) || iso.length <= 10 ? iso : `${iso}Z`);
}
