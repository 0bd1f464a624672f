import { UsageError } from "../errors.js";

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const AGO = /^(\d{1,5})([mhdw])$/;
const DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

/** The instant that --since names, in milliseconds since 1970: a date, an ISO 8601 time, or so long before `now`. */
export function readSince(text: string, now: number): number {
  const [, amount, unit] = AGO.exec(text) ?? [];
  if (unit !== undefined) return now - Number(amount) * UNITS[unit as keyof typeof UNITS];
  const instant = DATE.test(text) ? Date.parse(text.length === 10 ? `${text}T00:00` : text) : Number.NaN;
  if (Number.isNaN(instant))
    throw new UsageError(`--since takes a date (2026-01-31), or a time ago such as 12h, 7d or 2w, not "${text}"`);
  return instant;
}
