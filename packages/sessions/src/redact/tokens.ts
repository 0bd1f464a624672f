import type { Finder, Hit } from "./hit.js";
import { OF_DIGIT, OF_TOKEN, visitRuns } from "./runs.js";
import { TOKEN_SHAPES } from "./token-shapes.js";
import { wordVisitor } from "./triples.js";
import { wrappedEnd } from "./wrapped.js";

interface Shape {
  readonly kind: string;
  /** What is found at a sign of the shape. */
  readonly sign: RegExp;
  readonly pattern: RegExp;
  readonly accept?: (token: string) => boolean;
}

/** The shapes with signs of one sort, each sign as an expression for one place. */
const shapesBy = (isLiteral: boolean): readonly Shape[] =>
  TOKEN_SHAPES.flatMap(({ signs, ...shape }) => {
    const sources = signs.filter((sign) => sign.isLiteral === isLiteral).map(({ source }) => source);
    return sources.length === 0 ? [] : [{ ...shape, sign: new RegExp(sources.join("|"), isLiteral ? "y" : "") }];
  });

const LITERAL = shapesBy(true);
/** Shapes without a word of their own are looked for in every long stretch of token characters. */
const STRUCTURAL = shapesBy(false);
const ANY_STRUCTURE = new RegExp(STRUCTURAL.map(({ sign }) => sign.source).join("|"));
const LITERAL_SIGN = new RegExp(LITERAL.map(({ sign }) => sign.source).join("|"), "y");
const visitSigns = wordVisitor(TOKEN_SHAPES.flatMap(({ signs }) => signs.flatMap((sign) => (sign.isLiteral ? [sign.word] : []))));

const SHORTEST_STRETCH = 16;
/** What a token may have before its sign or its stretch: the address of a webhook, a bot's number. */
const LOOK_BACK = 90;
const LONGEST_TOKEN = 16_000;
/** How much of a text is searched for a shape at once. */
const PART = 2048;
/** Whether a token of a known shape may begin at a place. */
export function beginsToken(text: string, at: number): boolean {
  LITERAL_SIGN.lastIndex = at;
  return LITERAL_SIGN.test(text);
}

/** Tokens known by their shape. */
export const findTokens: Finder = (scan) => {
  const { text } = scan;
  const hits: Hit[] = [];
  const searched = new Map<Shape, number>();
  /** Looks for a shape around a place, in each part of the text once, however many signs stand there. */
  const look = (at: number, shape: Shape): void => {
    if (at < (searched.get(shape) ?? 0)) return;
    const from = Math.max(0, at - LOOK_BACK, searched.get(shape) ?? 0);
    const to = at + PART;
    searched.set(shape, to);
    for (const match of text.slice(from, to + LONGEST_TOKEN).matchAll(shape.pattern)) {
      const start = from + match.index;
      if (start >= to) return;
      if (shape.accept?.(match[0]) ?? true)
        hits.push({
          start,
          end: wrappedEnd(text, start, start + match[0].length, (at) => beginsToken(text, at)),
          kind: shape.kind,
        });
    }
  };
  visitSigns(scan, (at) => {
    if (!beginsToken(text, at)) return;
    for (const shape of LITERAL) {
      shape.sign.lastIndex = at;
      if (shape.sign.test(text)) look(at, shape);
    }
  });
  const hasDigit = (start: number, end: number): boolean => {
    for (let at = start; at < end; at++) if (OF_DIGIT[scan.bytes[at] ?? 0] === 1) return true;
    return false;
  };
  visitRuns(scan, OF_TOKEN, SHORTEST_STRETCH, (start, end) => {
    if (!hasDigit(start, end)) return;
    const near = text.slice(Math.max(0, start - 2), end + 2);
    if (ANY_STRUCTURE.test(near)) for (const shape of STRUCTURAL) if (shape.sign.test(near)) look(start, shape);
  });
  return hits;
};
