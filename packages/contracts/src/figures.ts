/** How often something is there, in words. */
export const count = (amount: number, noun: string): string => `${amount.toLocaleString("en")} ${noun}${amount === 1 ? "" : "s"}`;

/** Three digits at most, in powers of 1,000. */
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
