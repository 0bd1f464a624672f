import { stripVTControlCharacters } from "node:util";
import type { Paint } from "./paint.js";

const BAR_WIDTH = 28;

export const CLEAR_LINE = "\r\u001b[2K";

/** A bar that is as full as the share, from 0 to 1. */
export function bar(share: number, paint: Paint): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * BAR_WIDTH);
  return `${paint("cyan", "━".repeat(full))}${paint("dim", "─".repeat(BAR_WIDTH - full))}`;
}

/** Cuts a coloured line at the terminal's width: a line that wraps could not be overwritten. */
export const fit = (line: string, width: number): string => {
  const bare = stripVTControlCharacters(line);
  return bare.length < width ? line : bare.slice(0, Math.max(0, width - 1));
};
