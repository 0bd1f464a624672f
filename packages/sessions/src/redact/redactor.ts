import { findSecrets } from "./find-secrets.js";

/** Replaces secrets by typed placeholders: the same secret by the same placeholder, wherever it stands in the file. */
export interface Redactor {
  /** The text without secrets. `found` hears the kind of each one replaced. */
  redact(text: string, found: (kind: string) => void): string;
}

/** Placeholders are `<SECRET:kind>`, and `<SECRET:kind-2>` and so on for further secrets of that kind. */
export function redactor(): Redactor {
  const placeholders = new Map<string, string>();
  const perKind = new Map<string, number>();

  const placeholderFor = (kind: string, secret: string): string => {
    const key = `${kind}\n${secret}`;
    const known = placeholders.get(key);
    if (known !== undefined) return known;
    const number = (perKind.get(kind) ?? 0) + 1;
    perKind.set(kind, number);
    const made = `<SECRET:${number === 1 ? kind : `${kind}-${number}`}>`;
    placeholders.set(key, made);
    return made;
  };

  return {
    redact: (text, found) => {
      const hits = findSecrets(text);
      if (hits.length === 0) return text;
      let clean = "";
      let from = 0;
      for (const { start, end, kind } of hits) {
        found(kind);
        clean += text.slice(from, start) + placeholderFor(kind, text.slice(start, end));
        from = end;
      }
      return clean + text.slice(from);
    },
  };
}
