/** Every token is at least this long, which lets the search look at every eighth character only. */
const SHORTEST = 16;
const STRIDE = SHORTEST / 2;

const NOT_IN_RUN = 0;
const IN_RUN = 1;
const DIGIT = 2;

const CLASS = new Uint8Array(65_536);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.-") CLASS[char.charCodeAt(0)] = IN_RUN;
for (const char of "0123456789") CLASS[char.charCodeAt(0)] = DIGIT;

/** Visits every stretch of letters, digits, `_`, `-` and `.` of at least 16 characters. */
export function visitRuns(text: string, visit: (start: number, end: number, hasDigit: boolean) => void): void {
  const length = text.length;
  for (let probe = STRIDE - 1; probe < length; probe += STRIDE) {
    if (CLASS[text.charCodeAt(probe)] === NOT_IN_RUN) continue;
    let hasDigit = false;
    let start = probe;
    for (; start >= 0; start--) {
      const kind = CLASS[text.charCodeAt(start)];
      if (kind === NOT_IN_RUN) break;
      if (kind === DIGIT) hasDigit = true;
    }
    start++;
    let end = probe + 1;
    for (; end < length; end++) {
      const kind = CLASS[text.charCodeAt(end)];
      if (kind === NOT_IN_RUN) break;
      if (kind === DIGIT) hasDigit = true;
    }
    if (end - start >= SHORTEST) visit(start, end, hasDigit);
    probe = end - 1;
  }
}
