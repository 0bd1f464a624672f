import { GUTTER } from "./expressions.js";
import type { Finder, Hit } from "./hit.js";
import { OF_BASE64, visitRuns } from "./runs.js";
import type { Scan } from "./scan.js";

const NAME = "[ A-Za-z0-9]{0,40}(?:PRIVATE KEY(?: BLOCK)?|Static key V1) ?-{4,5}";
const BEGIN = new RegExp(`-{4,5} ?BEGIN${NAME}`);
const END = new RegExp(`-{4,5} ?END${NAME}`);
/** How the bytes of keys begin: a header that was cut off does not hide them. */
const FIRST_BYTES =
  /(?<![A-Za-z0-9+/])(?:MII[A-Za-z0-9+/]{2}[AQgw]IB(?:AAKC|ADAN)|MII[A-Za-z0-9+/]{3}IBAz|MII[A-Za-z0-9+/]{2}[A-Z][A-Za-z]BgkqhkiG9w0BBQ|MHcCAQEEI|MIG[Hk2]AgE[AB]|MIHuAgEAMBAG|MC4CAQAwBQYDK2Vw|b3BlbnNzaC1rZXktdjEAAA)/;
const PUTTY = /Private-Lines: (\d{1,3})/;
const TELLING = new RegExp(`PRIVATE KEY|Static key V1|Private-Lines:|${FIRST_BYTES.source}`);

/** Quotes, commas and signs of code around a line of a key: a list of strings, a sum of strings. */
const AROUND = "[\\s\"'`,+;\\\\()|>#*$│┃]*";
/** A line of a key, and the last of its lines, which may be short. */
const BODY = new RegExp(`^${GUTTER}${AROUND}([A-Za-z0-9+/=]{16,}(?: [A-Za-z0-9+/=]{16,})*)${AROUND}$`);
const SHORT_BODY = new RegExp(`^${GUTTER}${AROUND}(=?[A-Za-z0-9+/]{1,76}={0,2})${AROUND}$`);
/** A line that a key shares with what is no part of it: the rest of a string of JSON. */
const BODY_FIRST = new RegExp(`^${GUTTER}${AROUND}([A-Za-z0-9+/=]{16,})(?:(?=["'\`\\\\<])|\\.{2,}|…| ?\\[)`);
const BODY_LAST = new RegExp(`(?<![A-Za-z0-9+/=])([A-Za-z0-9+/=]{40,})${AROUND}$`);
const HEADER = new RegExp(`^${GUTTER}${AROUND}(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash|MessageID|Subject|x-[a-z-]+): `);
const BLANK = new RegExp(`^${GUTTER}[\\s"'\`,+>|\\\\-]*$`);
const BEHIND_BEGIN = /^["'\s]*([A-Za-z0-9+/=]{16,}(?:\s[A-Za-z0-9+/=]{4,})*)/;

interface Line {
  readonly start: number;
  readonly text: string;
}

/** The lines around a part of a text, without cutting all of it into lines. */
function lineAt(text: string, at: number): Line {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const stop = text.indexOf("\n", start);
  return { start, text: text.slice(start, stop < 0 ? text.length : stop) };
}
const lineAfter = (text: string, { start, text: said }: Line): Line | null =>
  start + said.length >= text.length ? null : lineAt(text, start + said.length + 1);
const lineBefore = (text: string, { start }: Line): Line | null => (start === 0 ? null : lineAt(text, start - 1));

const contentEnd = (line: Line, content: string): number => line.start + line.text.lastIndexOf(content) + content.length;

/** Where a key ends whose lines begin after `line`; `end` is what is known to belong to it. */
function walk(text: string, line: Line, end: number): number {
  let last = end;
  let isLong = false;
  for (let next = lineAfter(text, line); next !== null; next = lineAfter(text, next)) {
    const stop = END.exec(next.text);
    if (stop !== null) return isLong || last > end ? next.start + stop.index + stop[0].length : last;
    const body = BODY.exec(next.text) ?? (isLong ? SHORT_BODY.exec(next.text) : null);
    if (body !== null) {
      isLong = true;
      last = contentEnd(next, body[1] ?? "");
      continue;
    }
    const shared = BODY_FIRST.exec(next.text);
    if (shared !== null) {
      isLong = true;
      last = next.start + shared[0].length;
      continue;
    }
    if (isLong || !(HEADER.test(next.text) || BLANK.test(next.text))) return last;
  }
  return last;
}

function keyFrom(text: string, at: number): Hit | null {
  const line = lineAt(text, at);
  const rest = line.text.slice(at - line.start);
  const header = BEGIN.exec(rest);
  if (header?.index === 0) {
    const first = at + header[0].length;
    const behind = BEHIND_BEGIN.exec(text.slice(first, line.start + line.text.length));
    const known = behind === null ? first : first + behind[0].length;
    const closing = behind === null ? null : END.exec(text.slice(known, line.start + line.text.length));
    const end = closing === null ? walk(text, line, known) : known + closing.index + closing[0].length;
    return end === first ? null : { start: at, end, kind: "private-key" };
  }
  const bytes = /^[A-Za-z0-9+/=]+/.exec(rest)?.[0] ?? "";
  return bytes.length < 40 ? null : { start: at, end: walk(text, line, at + bytes.length), kind: "private-key" };
}

/** The end of a key whose beginning was cut off. */
function tailTo(text: string, at: number): Hit | null {
  const last = lineAt(text, at);
  let start = -1;
  for (let line = lineBefore(text, last), count = 0; line !== null && count < 400; line = lineBefore(text, line), count++) {
    const body = BODY.exec(line.text) ?? (count === 0 ? SHORT_BODY.exec(line.text) : null);
    const shared = body ?? BODY_LAST.exec(line.text);
    if (shared !== null) start = line.start + line.text.lastIndexOf(shared[1] ?? "");
    if (body === null) break;
  }
  const end = END.exec(last.text.slice(at - last.start));
  return start < 0 || end === null ? null : { start, end: at + end[0].length, kind: "private-key" };
}

function puttyFrom(text: string, at: number, lines: number): Hit | null {
  let line = lineAt(text, at);
  let start = -1;
  let end = -1;
  for (let count = 0; count < lines; count++) {
    const next = lineAfter(text, line);
    const body = next === null ? null : (BODY.exec(next.text) ?? SHORT_BODY.exec(next.text));
    if (next === null || body === null) break;
    if (start < 0) start = next.start + next.text.indexOf(body[1] ?? "");
    end = contentEnd(next, body[1] ?? "");
    line = next;
  }
  return start < 0 ? null : { start, end, kind: "private-key" };
}

/** How wide the lines of keys are. */
const WIDTHS = new Set([64, 70]);
/** As many lines of one width are a part of a key, unless of something public. */
const FEWEST_LINES = 3;
/** What may stand between the lines of a key. */
const BETWEEN = new RegExp(`^["'\`,;+\\s\\\\]*\\n${GUTTER}${AROUND}$`);
const LONGEST_BETWEEN = 240;
const LAST_LINE = new RegExp(`["'\`,;+ ]*\\n${GUTTER}${AROUND}[A-Za-z0-9+/]{16,69}={0,2}(?=["'\`,\\s]*(?:\\n|$))`, "y");
const PUBLIC = /-----(?:BEGIN|END)[ A-Z0-9]{0,40}(?:CERTIFICATE|PUBLIC KEY|REQUEST|CRL|PARAMETERS|SIGNATURE|MESSAGE)/;
const NEAR = 6000;

/** Lines as long as those of a key, with neither its beginning nor its end. */
function middles(scan: Scan): Hit[] {
  const { text } = scan;
  const hits: Hit[] = [];
  let start = 0;
  let end = -1;
  let lines = 0;
  const finish = (): void => {
    if (lines < FEWEST_LINES) return;
    const before = text.slice(Math.max(0, start - NEAR), start);
    const opened = before.slice(before.lastIndexOf("-----BEGIN"));
    const isPublic = (PUBLIC.test(opened) && !opened.includes("-----END")) || PUBLIC.test(text.slice(end, end + 400));
    LAST_LINE.lastIndex = end;
    const last = LAST_LINE.exec(text)?.[0].length ?? 0;
    if (!isPublic && /[0-9][\s\S]*[+/]/.test(text.slice(start, end))) hits.push({ start, end: end + last, kind: "private-key" });
  };
  visitRuns(scan, OF_BASE64, 64, (from, to) => {
    const isLine = WIDTHS.has(to - from);
    if (isLine && end >= 0 && from - end <= LONGEST_BETWEEN && BETWEEN.test(text.slice(end, from))) lines++;
    else {
      finish();
      start = from;
      lines = isLine ? 1 : 0;
    }
    end = to;
  });
  finish();
  return hits;
}

const each = (pattern: RegExp, text: string, hitAt: (match: RegExpExecArray) => Hit | null): Hit[] => {
  const hits: Hit[] = [];
  const search = new RegExp(pattern, "g");
  for (let match = search.exec(text); match !== null; match = search.exec(text)) {
    const hit = hitAt(match);
    if (hit === null) continue;
    hits.push(hit);
    search.lastIndex = Math.max(search.lastIndex, hit.end);
  }
  return hits;
};

/** Private keys of many lines, as files, code, diffs, greps and reader tools show them, whole or cut. */
export const findKeyBlocks: Finder = (scan) => {
  const { text } = scan;
  const hits = middles(scan);
  if (!TELLING.test(text)) return hits;
  hits.push(...each(BEGIN, text, (match) => keyFrom(text, match.index)));
  hits.push(...each(FIRST_BYTES, text, (match) => keyFrom(text, match.index)));
  hits.push(...each(END, text, (match) => tailTo(text, match.index)));
  hits.push(...each(PUTTY, text, (match) => puttyFrom(text, match.index, Number(match[1]))));
  return hits;
};
