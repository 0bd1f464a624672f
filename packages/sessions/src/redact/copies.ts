import { escaped } from "./expressions.js";
import type { Hit } from "./hit.js";
import { isRandom } from "./words.js";

/** A copy of a secret that was found elsewhere: `value` is the secret as it was found. */
export interface Copy extends Hit {
  readonly value: string;
}

/** What a line of a key holds; shorter ones say nothing by themselves. */
const KEY_LINE = /[A-Za-z0-9+/=_.-]{24,}/g;
const SHORTEST_PART = 12;
/** Beyond these many, one expression is asked first whether any of them stands in a text. */
const MOST_ASKED_ONE_BY_ONE = 48;

/** What a secret is put together of: a name and a password, a salt and a hash, the steps of an address. */
const PARTS = /[$:;,&|@\s"'<>]|\/(?=[^/]*$)/;

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

function inAddress(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text;
  }
}

/** How a secret may stand elsewhere: as it is, in JSON, in an address, and of a key of many lines each line. */
function writings(value: string): readonly string[] {
  if (value.includes("\n")) return [value, ...(value.match(KEY_LINE) ?? [])];
  const parts = value.split(PARTS).filter((part) => part !== value && part.length >= SHORTEST_PART && isRandom(part));
  return [value, inJson(value), inJson(inJson(value)), inAddress(value), value.replace(/^0x/, ""), ...parts];
}

const BEFORE = "(?:(?<![A-Za-z0-9])|(?<=\\\\[nrtbf]))";
const AFTER = "(?![A-Za-z0-9])";
const bordered = (text: string): string =>
  `${/^[A-Za-z0-9]/.test(text) ? BEFORE : ""}${escaped(text)}${/[A-Za-z0-9]$/.test(text) ? AFTER : ""}`;

/** What is known of a secret: its kind, and how it stood where it was found. */
export interface Found {
  readonly kind: string;
  readonly said: string;
}

/** Finds the copies of secrets. */
export function copyFinder(secrets: ReadonlyMap<string, Found>): (text: string) => readonly Copy[] {
  const known = new Map<string, { readonly value: string; readonly kind: string; readonly pattern: RegExp }>();
  for (const [value, { kind, said }] of secrets)
    for (const writing of [said, ...writings(value)])
      if (!known.has(writing)) known.set(writing, { value, kind, pattern: new RegExp(bordered(writing), "g") });
  if (known.size === 0) return () => [];
  const any = known.size > MOST_ASKED_ONE_BY_ONE ? new RegExp([...known.keys()].map(escaped).join("|")) : null;
  return (text) => {
    if (any !== null && !any.test(text)) return [];
    const copies: Copy[] = [];
    for (const [writing, { value, kind, pattern }] of known)
      if (text.includes(writing))
        for (const match of text.matchAll(pattern))
          copies.push({ start: match.index, end: match.index + writing.length, kind, value });
    return copies;
  };
}
