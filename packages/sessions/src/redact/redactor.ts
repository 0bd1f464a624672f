import { isAccount, nameHits } from "./accounts.js";
import { copyFinder, type Found } from "./copies.js";
import { findSecrets } from "./find-secrets.js";
import { type Hit, merged } from "./hit.js";
import { viewOf } from "./view.js";

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
