import { isAccount, nameHits } from "./accounts.js";
import { escaped } from "./expressions.js";
import { findSecrets } from "./find-secrets.js";
import { type Hit, merged } from "./hit.js";
import { viewOf } from "./view.js";
import { isRandom } from "./words.js";

/** A copy of a secret that was found elsewhere: `value` is the secret as it was found. */
interface Copy extends Hit {
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
interface Found {
  readonly kind: string;
  readonly said: string;
}

/** Finds the copies of secrets. */
function copyFinder(secrets: ReadonlyMap<string, Found>): (text: string) => readonly Copy[] {
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

/** Replaces secrets and account names, the same by the same, wherever they stand in the file. */
export interface Redactor {
  /**
   * The texts of one session without their secrets, in the same order. Every copy of what is found in one of them goes from
   * all. `found` hears the kind of each one replaced, and the index of its text.
   */
  redact(texts: readonly string[], found: (kind: string, index: number) => void): readonly string[];
}

/** Names what is replaced, the same value by the same name: of a kind's first by the kind alone, of the second as `kind-2`. */
function naming(): (kind: string, value: string, separator: string) => string {
  const names = new Map<string, string>();
  const perKind = new Map<string, number>();
  return (kind, value, separator) => {
    const known = names.get(value);
    if (known !== undefined) return known;
    const number = (perKind.get(kind) ?? 0) + 1;
    perKind.set(kind, number);
    const name = number === 1 ? kind : `${kind}${separator}${number}`;
    names.set(value, name);
    return name;
  };
}

/**
 * Placeholders are `<SECRET:kind>`, then `<SECRET:kind-2>` and so on for further secrets of that kind. Names of accounts
 * become `dev`, `dev2` and so on, so that a path stays a path.
 */
export function redactor(): Redactor {
  const secretName = naming();
  const accountName = naming();
  const replacement = (kind: string, value: string): string =>
    isAccount(kind) ? accountName("dev", value.toLowerCase(), "") : `<SECRET:${secretName(kind, value, "-")}>`;

  return {
    redact: (texts, found) => {
      const byText = new Map<number, readonly Hit[]>();
      const names = new Set<string>();
      const secrets = new Map<string, Found>();
      for (const [index, text] of texts.entries()) {
        const hits = findSecrets(text);
        if (hits.length === 0) continue;
        byText.set(index, hits);
        for (const { start, end, kind } of hits) {
          const said = text.slice(start, end);
          if (isAccount(kind)) names.add(said);
          else secrets.set(viewOf(said).text, { kind, said });
        }
      }
      if (byText.size === 0) return texts;
      const findNames = nameHits([...names]);
      const findCopies = copyFinder(secrets);
      return texts.map((text, index) => {
        const known = byText.get(index) ?? [];
        const copies = findCopies(text);
        const hits = merged([...known, ...copies, ...findNames(text)]);
        if (hits.length === 0) return text;
        const originals = new Map(copies.map(({ start, end, value }) => [`${start}-${end}`, value]));
        let clean = "";
        let from = 0;
        for (const { start, end, kind } of hits) {
          found(kind, index);
          const value = originals.get(`${start}-${end}`) ?? viewOf(text.slice(start, end)).text;
          clean += text.slice(from, start) + replacement(kind, value);
          from = end;
        }
        return clean + text.slice(from);
      });
    },
  };
}
