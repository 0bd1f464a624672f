import { GUTTER } from "./expressions.js";
import { isRandom } from "./words.js";

/** A line this wide was wrapped by a terminal or an editor. */
const FULL_LINE = 56;
const NEXT_LINE = new RegExp(`\\n${GUTTER}["']?([A-Za-z0-9_./+-]{8,}={0,2})(?=["'\`]?(?:\\n|$)|["'\`])`, "y");

/**
 * Where a value from `start` to `end` ends that fills its line and goes on in the next ones.
 * @param isOther whether another value begins at a place, which then is no continuation
 */
export function wrappedEnd(text: string, start: number, end: number, isOther: (at: number) => boolean): number {
  let from = start;
  let to = end;
  while (text[to] === "\n" && to - from >= FULL_LINE) {
    NEXT_LINE.lastIndex = to;
    const match = NEXT_LINE.exec(text);
    const said = match?.[1] ?? "";
    if (match === null || !isRandom(said)) return to;
    const next = match.index + match[0].length;
    if (isOther(next - said.length)) return to;
    to = next;
    from = to - said.length;
  }
  return to;
}
