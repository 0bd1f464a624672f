import type { LogLine } from "./line.js";

/** The forest that `parentUuid` makes of a log. Lines without an id, or whose parent is not there, are roots. */
interface Forest {
  readonly parents: readonly (number | null)[];
  readonly children: readonly (readonly number[])[];
}

function forestOf(lines: readonly LogLine[]): Forest {
  const byId = new Map(lines.flatMap((line, index) => (line.uuid === null ? [] : [[line.uuid, index] as const])));
  const parents = lines.map((line, index) => {
    const parent = line.parent === null ? undefined : byId.get(line.parent);
    return parent === undefined || parent === index ? null : parent;
  });
  const children: number[][] = lines.map(() => []);
  parents.forEach((parent, index) => {
    if (parent !== null) children[parent]?.push(index);
  });
  return { parents, children };
}

/** Line numbers in an order where no line stands before its parent, and which is the file's order otherwise. */
function parentsFirst({ parents }: Forest): number[] {
  const placed = new Set<number>();
  parents.forEach((_, index) => {
    const chain: number[] = [];
    const seen = new Set<number>();
    for (let at: number | null = index; at !== null && !placed.has(at) && !seen.has(at); at = parents[at] ?? null) {
      seen.add(at);
      chain.push(at);
    }
    for (const line of chain.reverse()) placed.add(line);
  });
  return [...placed];
}

function subtree({ children }: Forest, root: number): Set<number> {
  const found = new Set([root]);
  for (const index of found) for (const child of children[index] ?? []) found.add(child);
  return found;
}

/** The user-written lines that continue `from`, seen through lines that are no messages. */
function continuations(forest: Forest, lines: readonly LogLine[], from: number, isWritten: (line: LogLine) => boolean): number[] {
  const found: number[] = [];
  const open = [...(forest.children[from] ?? [])];
  const seen = new Set(open);
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const line = lines[at];
    if (line === undefined) continue;
    if (isWritten(line)) found.push(at);
    else if (line.kind === "other")
      for (const child of forest.children[at] ?? [])
        if (!seen.has(child)) {
          seen.add(child);
          open.push(child);
        }
  }
  return found;
}

/**
 * The lines in conversation order, and those left behind by a rewind: of two user-written continuations of one line only
 * the one that reaches the latest line stands. Other forks are parallel calls, and all of them stand.
 */
export function activeLines(
  lines: readonly LogLine[],
  isWritten: (line: LogLine) => boolean,
): { readonly active: readonly LogLine[]; readonly abandoned: readonly LogLine[] } {
  const forest = forestOf(lines);
  const left = new Set<number>();
  const stamp = (index: number): string => lines[index]?.timestamp ?? "";
  const later = (one: number, other: number): number =>
    stamp(one) > stamp(other) || (stamp(one) === stamp(other) && one > other) ? one : other;
  const ordered = parentsFirst(forest);
  // The latest line of each line's subtree, from the leaves up: forks in forks would make a search at each one quadratic.
  const latest = lines.map((_, index) => index);
  for (const index of [...ordered].reverse()) {
    const parent = forest.parents[index] ?? null;
    if (parent !== null) latest[parent] = later(latest[parent] ?? parent, latest[index] ?? index);
  }
  lines.forEach((line, from) => {
    // Only messages are looked from: what lies beneath a line that is none is seen through it.
    if (left.has(from) || (forest.children[from]?.length ?? 0) === 0 || (line.kind === "other" && forest.parents[from] !== null))
      return;
    const rivals = continuations(forest, lines, from, isWritten);
    if (rivals.length < 2) return;
    const end = (rival: number): number => latest[rival] ?? rival;
    const winner = rivals.reduce((best, rival) => (later(end(best), end(rival)) === end(best) ? best : rival));
    for (const rival of rivals) if (rival !== winner) for (const index of subtree(forest, rival)) left.add(index);
  });
  const pick = (isLeft: boolean): LogLine[] =>
    ordered.filter((index) => left.has(index) === isLeft).flatMap((index) => lines[index] ?? []);
  return { active: pick(false), abandoned: pick(true) };
}
