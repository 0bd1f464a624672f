import type { Finder, Hit } from "./hit.js";
import { GUTTER } from "./named.js";
import { visitRuns } from "./runs.js";
import { TOKEN_SHAPES } from "./token-shapes.js";

const anyOf = (signs: readonly string[]): RegExp => new RegExp(signs.join("|"));
const SIGNS = anyOf(TOKEN_SHAPES.flatMap((one) => one.signs));
const SHAPES = TOKEN_SHAPES.map((one) => ({ ...one, sign: anyOf(one.signs) }));

/** What a token may have before the stretch that it was found by: the address of a webhook, a bot's number. */
const LOOK_BACK = 90;
const LONGEST_TOKEN = 16_000;
/** A token that fills its line goes on in the next. */
const FULL_LINE = 56;
const NEXT_LINE = new RegExp(`\\n${GUTTER}["']?([A-Za-z0-9_.=/-]{8,})(?=["'\`]?(?:\\n|$)|["'\`])`, "y");

/** Where a token ends that a terminal or an editor wrapped. */
function wrappedEnd(text: string, start: number, end: number): number {
  let from = start;
  let to = end;
  while (text[to] === "\n" && to - from >= FULL_LINE) {
    NEXT_LINE.lastIndex = to;
    const match = NEXT_LINE.exec(text);
    if (match === null) return to;
    to = match.index + match[0].length;
    from = to - (match[1]?.length ?? 0);
  }
  return to;
}

/** Tokens known by their shape. */
export const findTokens: Finder = (scan) => {
  const { text } = scan;
  const hits: Hit[] = [];
  visitRuns(scan, (start, end) => {
    const from = Math.max(0, start - LOOK_BACK);
    const near = text.slice(from, end + 2);
    if (!SIGNS.test(near)) return;
    for (const { kind, sign, pattern, accept } of SHAPES) {
      if (!sign.test(near)) continue;
      const window = text.slice(from, start + LONGEST_TOKEN);
      for (const match of window.matchAll(pattern)) {
        const at = from + match.index;
        if (at >= end) break;
        if (accept?.(match[0]) ?? true) hits.push({ start: at, end: wrappedEnd(text, at, at + match[0].length), kind });
      }
    }
  });
  return hits;
};
