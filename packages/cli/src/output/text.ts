import { stripVTControlCharacters } from "node:util";

/** Control characters but line break and tab. */
const CONTROL = /(?![\n\t])\p{Cc}/gu;

/** Text from elsewhere (a session, a model, a log) that may not steer the terminal. */
export const plain = (text: string): string => stripVTControlCharacters(text).replaceAll(CONTROL, "");

/** On one line, with an ellipsis where it is too long. */
export function shorten(text: string, length: number): string {
  const line = plain(text).replaceAll(/\s+/g, " ").trim();
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
}

export function bytes(count: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = count < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(count) / 3));
  const value = count / 1000 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}

/** 0:07, 12:30, 1:02:03. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const [hours = 0, minutes = 0, rest = 0] = parts;
  const tail = String(rest).padStart(2, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${tail}` : `${minutes}:${tail}`;
}

export const count = (amount: number, noun: string): string => `${amount.toLocaleString("en")} ${noun}${amount === 1 ? "" : "s"}`;
