import { type JsonObject, stringOrNull } from "../../values/json.js";

/** Whether entries form a tree (version 2 on) rather than a plain list. */
const isTree = (entries: readonly JsonObject[]): boolean => entries.some((entry) => "parentId" in entry);

const NONE = -1;

/** Of each entry the place of the one it follows: where several have that id, the nearest before it. */
function parentsOf(entries: readonly JsonObject[]): readonly number[] {
  const places = new Map(entries.map((entry, index) => [stringOrNull(entry.id), index] as const));
  const before = new Map<string, number>();
  return entries.map(({ id, parentId }, at) => {
    const parent = stringOrNull(parentId) ?? "";
    const place = before.get(parent) ?? places.get(parent) ?? at - 1;
    if (stringOrNull(id) !== null) before.set(String(id), at);
    return parentId === null ? NONE : place;
  });
}

/**
 * The entries from the root to the latest one, and how many messages stand on other branches. An entry whose parent is not
 * in the file follows the one before it.
 */
export function activeBranch<Entry extends JsonObject>(
  entries: readonly Entry[],
): { readonly active: readonly Entry[]; readonly abandoned: number } {
  if (!isTree(entries)) return { active: entries, abandoned: 0 };
  const parents = parentsOf(entries);
  const path = new Set<number>();
  for (let at = entries.length - 1; at >= 0 && !path.has(at); at = parents[at] ?? NONE) path.add(at);
  const isMessage = (entry: JsonObject): boolean => entry.type === "message";
  return {
    active: entries.filter((_, index) => path.has(index)),
    abandoned: entries.filter((entry, index) => !path.has(index) && isMessage(entry)).length,
  };
}
