/** Files can invent any number of names. */
const MOST_NAMES = 200;
const OTHERS = "others";

/** Counts by name, kept in the order in which the names first came up. */
export interface Tally {
  add(name: string, count?: number): void;
  entries(): [name: string, count: number][];
}

export function tally(): Tally {
  // Made when first needed: most tallies of most conversations stay empty.
  let counts: Map<string, number> | undefined;
  return {
    add: (name, count = 1) => {
      if (count <= 0) return;
      counts ??= new Map();
      const kept = counts.has(name) || counts.size < MOST_NAMES ? name : OTHERS;
      counts.set(kept, (counts.get(kept) ?? 0) + count);
    },
    entries: () => (counts === undefined ? [] : [...counts]),
  };
}
