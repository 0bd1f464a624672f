import { type Name, valuesOf } from "./after-name.js";
import { GUTTER } from "./expressions.js";
import { matched, type Value, valueAt } from "./given.js";
import type { Finder, Hit } from "./hit.js";
import { hitKind, isOfSecretKey, type NameKind, nameKind, visitNames } from "./names.js";
import { beginsToken } from "./tokens.js";
import { CUT, isSecret } from "./values.js";
import { wrappedEnd } from "./wrapped.js";

const NAME_CHAR = /[A-Za-z0-9_-]/;
const LONGEST_NAME = 80;
/** The next of a list, after a value that was one. */
const NEXT_OF_LIST = new RegExp(
  `["']?[ \\t]*,?[ \\t]*(?:\\n${GUTTER})?["']?(?=[^\\s:"']{8,4000}["']?[ \\t]*(?:[,\\n\\]]|$))`,
  "y",
);

function nameAround(text: string, at: number): readonly [start: number, end: number] {
  let start = at;
  while (start > 0 && at - start < LONGEST_NAME && NAME_CHAR.test(text[start - 1] ?? "")) start--;
  let end = at;
  while (end < text.length && end - at < LONGEST_NAME && NAME_CHAR.test(text[end] ?? "")) end++;
  while (start < at && text[start] === "-") start++;
  return [start, end];
}

/** Words before `key` that name no service. */
const NO_SERVICE =
  /^(?:an?|the|this|that|each|every|any|some|no|by|with|of|for|per|from|as|is|same|new|old|first|last|next|if|its|other|unknown|missing|duplicate|invalid|given|wrong|press|enter|which|what|and|or|not|in|on|to|string|int|const|let|var|val|redis|dictionary|kms|s3|i18n)$/i;

/** Whether the word before says that `key` is a secret: `API key`, `api.key`, `acme key`, but not `cache key` and `the key`. */
function isOfSecret(text: string, start: number): boolean {
  const [, word = "", sign] = /([A-Za-z]\w{1,20})([ .])$/.exec(text.slice(Math.max(0, start - 23), start)) ?? [];
  if (isOfSecretKey(word)) return true;
  return sign === " " && !NO_SERVICE.test(word) && nameKind(`${word}_key`) === "key";
}

/** `key:` alone, in a section on encryption or beside a name of a user: `{"username": …, "key": …}`. */
const isNearSecret = (text: string, start: number): boolean =>
  /(?:encryption|crypt|username|secret|credentials?|auth|api)["']?\s*(?::|=>?)[^{}\n]{0,80}[\s,{["'\d|:→-]*$/i.test(
    text.slice(Math.max(0, start - 160), start),
  );

/** `here is the key: …`. */
const isSpokenOf = (text: string, start: number): boolean =>
  /\b(?:the|my|this|our|new|following) $/i.test(text.slice(Math.max(0, start - 14), start));

/** What Django writes before a key that it drew; not a part of it. */
const MARK = "django-insecure-";

const hitOf = (text: string, value: Value, kind: NameKind): Hit => ({
  start: value.start + (text.startsWith(MARK, value.start) ? MARK.length : 0),
  end: value.end - (CUT.exec(text.slice(value.start, value.end))?.[0].length ?? 0),
  kind: hitKind(kind),
});

/** What a name announces that stands from `start` to `end`. */
function kindOf(text: string, start: number, end: number): NameKind | null {
  // What stands before an address's `@` is found as its login.
  if (/:\/\/[^\s/?#"'`]{0,80}$/.test(text.slice(Math.max(0, start - 84), start))) return null;
  const name = text.slice(start, end);
  if (/^keys?$/i.test(name) && (isOfSecret(text, start) || isNearSecret(text, start) || isSpokenOf(text, start))) return "key";
  return name === "PWD" && text[start - 1] === ";" ? "password" : nameKind(name);
}

/** The hits of a name: its value, what it was before, the rest of a list. */
function hitsOf(of: Name): Hit[] {
  const { text, name, kind } = of;
  const hits: Hit[] = [];
  const isOne = (value: Value | null): value is Value =>
    value !== null && isSecret(text.slice(value.start, value.end).replace(MARK, ""), kind, value);
  const lineStart = (at: number): number => text.lastIndexOf("\n", at) + 1;
  for (const value of valuesOf(of)) {
    if (!isOne(value)) continue;
    const end = value.isQuoted ? value.end : wrappedEnd(text, lineStart(value.start), value.end, (at) => beginsToken(text, at));
    hits.push(hitOf(text, { ...value, end }, kind));
    if (value.isFirst === true) continue;
    let last = end;
    while (/s$/i.test(name)) {
      const gap = matched(NEXT_OF_LIST, text, last);
      const next = gap === null ? null : valueAt(text, last + gap.length, true, false);
      if (!isOne(next)) break;
      hits.push(hitOf(text, next, kind));
      last = next.end;
    }
    break;
  }
  return hits;
}

/** Values given to a name that says what they are, in settings, code, JSON, tables, options and sentences. */
export const findNamed: Finder = (scan) => {
  const { text } = scan;
  const found: Hit[] = [];
  visitNames(scan, (at) => {
    const [start, end] = nameAround(text, at);
    const kind = kindOf(text, start, end);
    if (kind === null) return end;
    const hits = hitsOf({ text, start, end, name: text.slice(start, end), kind });
    found.push(...hits);
    return Math.max(end, ...hits.map((hit) => hit.end));
  });
  return found;
};
