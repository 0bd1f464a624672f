import { type JsonObject, stringOrNull } from "../../values/json.js";

/** Whether entries form a tree (version 2 on) rather than a plain list. */
const isTree = (entries: readonly JsonObject[]): boolean => entries.some((entry) => "parentId" in entry);

/**
 * The entries from the root to the latest one, and how many messages stand on other branches. An entry whose parent is not
 * in the file follows the one before it.
 */
export function activeBranch<Entry extends JsonObject>(
  entries: readonly Entry[],
): {
  readonly active: readonly Entry[];
  readonly abandoned: number;
} {
  if (!isTree(entries)) return { active: entries, abandoned: 0 };
  const byId = new Map(entries.map((entry, index) => [stringOrNull(entry.id), index] as const));
  const path = new Set<number>();
  let at: number | undefined = entries.length - 1;
  while (at !== undefined && at >= 0 && !path.has(at)) {
    path.add(at);
    const parent: unknown = entries[at]?.parentId;
    at = parent === null ? undefined : (byId.get(stringOrNull(parent) ?? "") ?? at - 1);
  }
  const isMessage = (entry: JsonObject): boolean => entry.type === "message";
  return {
    active: entries.filter((_, index) => path.has(index)),
    abandoned: entries.filter((entry, index) => !path.has(index) && isMessage(entry)).length,
  };
}
