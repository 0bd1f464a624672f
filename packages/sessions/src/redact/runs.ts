import type { Scan } from "./scan.js";

/** Every token is at least this long, which lets the search look at every sixteenth character only. */
const SHORTEST = 16;

const NOT_IN_RUN = 0;
const IN_RUN = 1;
const DIGIT = 2;

const CLASS = new Uint8Array(256);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.-") CLASS[char.charCodeAt(0)] = IN_RUN;
for (const char of "0123456789") CLASS[char.charCodeAt(0)] = DIGIT;

const classAt = (bytes: Uint8Array, at: number): number => CLASS[bytes[at] ?? 0] ?? NOT_IN_RUN;

function hasDigit(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (classAt(bytes, at) === DIGIT) return true;
  return false;
}

/** Visits every stretch of letters, digits, `_`, `-` and `.` of at least 16 characters. */
export function visitRuns({ text, bytes }: Scan, visit: (start: number, end: number, hasDigit: boolean) => void): void {
  const length = text.length;
  for (let probe = SHORTEST - 1; probe < length; probe += SHORTEST) {
    if (classAt(bytes, probe) === NOT_IN_RUN) continue;
    let start = probe;
    while (start > 0 && classAt(bytes, start - 1) !== NOT_IN_RUN) start--;
    let end = probe + 1;
    while (end < length && classAt(bytes, end) !== NOT_IN_RUN) end++;
    if (end - start >= SHORTEST) visit(start, end, hasDigit(bytes, start, end));
    probe += SHORTEST * Math.floor((end - 1 - probe) / SHORTEST);
  }
}
