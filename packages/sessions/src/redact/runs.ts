import type { Scan } from "./scan.js";

/** Every token is at least this long, which lets the search look at every sixteenth character only. */
const SHORTEST = 16;

const IN_RUN = 1;

const CLASS = new Uint8Array(256);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.-0123456789") CLASS[char.charCodeAt(0)] = IN_RUN;

const isInRun = (bytes: Uint8Array, at: number): boolean => CLASS[bytes[at] ?? 0] === IN_RUN;

/** Visits every stretch of letters, digits, `_`, `-` and `.` of at least 16 characters. */
export function visitRuns({ text, bytes }: Scan, visit: (start: number, end: number) => void): void {
  const length = text.length;
  for (let probe = SHORTEST - 1; probe < length; probe += SHORTEST) {
    if (!isInRun(bytes, probe)) continue;
    let start = probe;
    while (start > 0 && isInRun(bytes, start - 1)) start--;
    let end = probe + 1;
    while (end < length && isInRun(bytes, end)) end++;
    if (end - start >= SHORTEST) visit(start, end);
    probe += SHORTEST * Math.floor((end - 1 - probe) / SHORTEST);
  }
}
