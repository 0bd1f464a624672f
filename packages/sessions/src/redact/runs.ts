/** Every token is at least this long, which lets the search look at every eighth character only. */
const SHORTEST = 16;
const STRIDE = SHORTEST / 2;

const NOT_IN_RUN = 0;
const IN_RUN = 1;
const DIGIT = 2;

const CLASS = new Uint8Array(128);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.-") CLASS[char.charCodeAt(0)] = IN_RUN;
for (const char of "0123456789") CLASS[char.charCodeAt(0)] = DIGIT;
const classOf = (text: string, at: number): number => CLASS[text.charCodeAt(at)] ?? NOT_IN_RUN;

/** Visits every stretch of letters, digits, `_`, `-` and `.` of at least 16 characters. */
export function visitRuns(text: string, visit: (start: number, end: number, hasDigit: boolean) => void): void {
  const length = text.length;
  for (let probe = STRIDE - 1; probe < length; probe += STRIDE) {
    if (classOf(text, probe) === NOT_IN_RUN) continue;
    let start = probe;
    let hasDigit = false;
    for (let kind = classOf(text, start); kind !== NOT_IN_RUN; kind = start < 0 ? NOT_IN_RUN : classOf(text, start)) {
      if (kind === DIGIT) hasDigit = true;
      start--;
    }
    start++;
    let end = probe + 1;
    for (; end < length; end++) {
      const kind = classOf(text, end);
      if (kind === NOT_IN_RUN) break;
      if (kind === DIGIT) hasDigit = true;
    }
    if (end - start >= SHORTEST) visit(start, end, hasDigit);
    probe = end - 1;
  }
}
