import { createHash } from "node:crypto";
import { toJson } from "./json.js";

/** Short enough to be kept for each of very many records. */
export const digest = (value: unknown): string => createHash("sha256").update(toJson(value)).digest("base64").slice(0, 22);

/**
 * Tells a thing that was recorded twice from another one of the same id: answers false for contents that came with the id
 * before. An id stands for one thing only while contents agree, as tools that redact recordings give many things the same.
 */
export function recordedOnce<Item>(contentsOf: (item: Item) => unknown): (id: string, item: Item) => boolean {
  const first = new Map<string, Item>();
  const known = new Map<string, Set<string>>();
  return (id, item) => {
    const earlier = first.get(id);
    if (earlier === undefined) {
      first.set(id, item);
      return true;
    }
    const digests = known.get(id) ?? new Set([digest(contentsOf(earlier))]);
    known.set(id, digests);
    const size = digests.size;
    return digests.add(digest(contentsOf(item))).size > size;
  };
}
