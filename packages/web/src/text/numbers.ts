import { count } from "@imprint/contracts";

export { bytes, count, duration } from "@imprint/contracts";

/** Three significant digits, without an exponent where none is needed. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) return value.toExponential(1);
  return size >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
}

/** How long ago an instant was, in one unit. */
export function ago(instant: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(instant)) / 1000);
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return count(Math.floor(seconds / 86_400), "day").concat(" ago");
}

/** snake_case as words. */
export const words = (name: string): string => name.replaceAll("_", " ");

/** snake_case as the name of something. */
export const title = (name: string): string => words(name).replace(/^./, (first) => first.toUpperCase());
