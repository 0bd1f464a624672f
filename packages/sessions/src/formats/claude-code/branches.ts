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
  const latest = (branch: ReadonlySet<number>): number =>
    [...branch].reduce((best, index) =>
      stamp(index) > stamp(best) || (stamp(index) === stamp(best) && index > best) ? index : best,
    );
  lines.forEach((line, from) => {
    // Only messages are looked from: what lies beneath a line that is none is seen through it.
    if (left.has(from) || (forest.children[from]?.length ?? 0) === 0 || (line.kind === "other" && forest.parents[from] !== null))
      return;
    const rivals = continuations(forest, lines, from, isWritten);
    if (rivals.length < 2) return;
    const branches = rivals.map((rival) => subtree(forest, rival)).map((branch) => ({ branch, end: latest(branch) }));
    const winner = branches.reduce((best, one) =>
      stamp(one.end) > stamp(best.end) || (stamp(one.end) === stamp(best.end) && one.end > best.end) ? one : best,
    );
    for (const { branch } of branches) if (branch !== winner.branch) for (const index of branch) left.add(index);
  });
  const ordered = parentsFirst(forest);
  const pick = (isLeft: boolean): LogLine[] =>
    ordered.filter((index) => left.has(index) === isLeft).flatMap((index) => lines[index] ?? []);
  return { active: pick(false), abandoned: pick(true) };
}
