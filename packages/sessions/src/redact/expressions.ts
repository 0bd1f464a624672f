type Range = readonly [start: number, end: number];

/** The source of an expression that matches a text as it is. */
export const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");

/** Where the group `secret` of a match stands; the expression has the flag `d`. */
export const secretOf = (match: RegExpExecArray | null): Range | undefined => match?.indices?.groups?.secret;

/** Where the group `secret` stands of what an expression with the flags `d` and `y` matches at a place. */
export function secretAt(pattern: RegExp, text: string, at: number): Range | undefined {
  pattern.lastIndex = at;
  return secretOf(pattern.exec(text));
}
