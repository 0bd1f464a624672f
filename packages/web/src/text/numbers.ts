export const count = (amount: number, noun: string): string => `${amount.toLocaleString("en")} ${noun}${amount === 1 ? "" : "s"}`;

export function bytes(amount: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = amount < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(amount) / 3));
  const value = amount / 1000 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}

/** 0:07, 12:30, 1:02:03. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const two = (value: number): string => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

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
