import { DROPPED } from "../../dropped.js";
import type { LogLine } from "./line.js";

const NONE = -1;

export interface Log {
  readonly lines: readonly LogLine[];
  /** Of each line the one that it follows: its number, or its id where that line came later or never. */
  readonly parents: readonly (number | string | null)[];
  /** Where the line of an id stands. */
  readonly positions: ReadonlyMap<string, number>;
  /** Whether a line belongs to the conversation, and not to a sub-agent's that is written between its lines. */
  readonly isOwn: (line: LogLine) => boolean;
}

/** The forest that `parentUuid` makes of a log, in line numbers. Lines without an id, or whose parent is not there, are roots. */
interface Forest {
  readonly parents: Int32Array;
  readonly firstChild: Int32Array;
  readonly nextSibling: Int32Array;
}

const at = (numbers: Int32Array, index: number): number => numbers[index] ?? NONE;

function forestOf({ lines, parents: named, positions, isOwn }: Log): Forest {
  const parents = Int32Array.from(lines, (line, index) => {
    const name = named[index] ?? NONE;
    const parent = typeof name === "string" ? (positions.get(name) ?? NONE) : name;
    const found = lines[parent];
    return found === undefined || parent === index || !isOwn(line) || !isOwn(found) ? NONE : parent;
  });
  const firstChild = new Int32Array(lines.length).fill(NONE);
  const nextSibling = new Int32Array(lines.length).fill(NONE);
  for (let index = lines.length - 1; index >= 0; index--) {
    const parent = at(parents, index);
    if (parent === NONE) continue;
    nextSibling[index] = at(firstChild, parent);
    firstChild[parent] = index;
  }
  return { parents, firstChild, nextSibling };
}

function* childrenOf({ firstChild, nextSibling }: Forest, parent: number): Generator<number> {
  for (let child = at(firstChild, parent); child !== NONE; child = at(nextSibling, child)) yield child;
}

/** Line numbers in an order where no line stands before its parent, and which is the file's order otherwise. */
function parentsFirst({ parents }: Forest): Int32Array {
  const order = new Int32Array(parents.length);
  let placed = 0;
  const isPlaced = new Uint8Array(parents.length);
  // By which line a line was last reached, so that parents in a circle end the walk.
  const reachedFrom = new Int32Array(parents.length).fill(NONE);
  for (let index = 0; index < parents.length; index++) {
    const chain: number[] = [];
    for (let line = index; line !== NONE && isPlaced[line] === 0 && at(reachedFrom, line) !== index; line = at(parents, line)) {
      reachedFrom[line] = index;
      chain.push(line);
    }
    for (const line of chain.reverse()) {
      isPlaced[line] = 1;
      order[placed++] = line;
    }
  }
  return order;
}

/** What a line is where the conversation may fork. Beneath what is `between` lie lines that continue the same one. */
export type Place = "request" | "command" | "between" | "end";

/** The requests that continue `from`, seen through what is none. */
function continuations(forest: Forest, from: number, places: readonly Place[]): number[] {
  const found: number[] = [];
  const open = [...childrenOf(forest, from)];
  const seen = new Set(open);
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    const place = places[index];
    if (place === "request") found.push(index);
    else if (place === "between")
      for (const child of childrenOf(forest, index))
        if (!seen.has(child)) {
          seen.add(child);
          open.push(child);
        }
  }
  return found;
}

/**
 * The lines in conversation order, and those left behind by a rewind: of user-written continuations of a line only that stands
 * which reaches the latest line, and what was summed up before it: some builds go on from a line ahead. Parallel calls all stand.
 */
export function activeLines(
  log: Log,
  placeOf: (line: LogLine) => Place,
): { readonly active: readonly LogLine[]; readonly abandoned: readonly LogLine[] } {
  const { lines, isOwn } = log;
  const forest = forestOf(log);
  const left = new Set<number>();
  const stamp = (index: number): string => lines[index]?.timestamp ?? "";
  const later = (one: number, other: number): number =>
    stamp(one) > stamp(other) || (stamp(one) === stamp(other) && one > other) ? one : other;
  const ordered = parentsFirst(forest);
  // The latest line of each line's subtree, from the leaves up: forks in forks would make a search at each one quadratic.
  const latest = Int32Array.from(lines, (_, index) => index);
  for (const index of ordered.toReversed()) {
    const parent = at(forest.parents, index);
    if (parent !== NONE) latest[parent] = later(at(latest, parent), at(latest, index));
  }
  const summedUp = new Int32Array(lines.length);
  for (const [index, { left: why }] of lines.entries())
    summedUp[index] = why === DROPPED.compactSummary ? index : at(summedUp, index - 1);
  // A command is a request where the model answers it, at once or after what the command stands for.
  const isAsked = (next?: LogLine): boolean => next?.kind === "assistant" || next?.left === DROPPED.harness;
  const places = lines.map((line, index): Place => {
    const place = placeOf(line);
    if (place !== "command") return place;
    return [...childrenOf(forest, index)].some((child) => isAsked(lines[child])) ? "request" : "between";
  });
  lines.forEach((_, from) => {
    // Only messages are looked from: what lies beneath a line that is none is seen through it.
    if (
      left.has(from) ||
      at(forest.firstChild, from) === NONE ||
      (at(forest.parents, from) !== NONE && places[from] === "between")
    )
      return;
    const rivals = continuations(forest, from, places);
    if (rivals.length < 2) return;
    const end = (rival: number): number => at(latest, rival);
    const winner = rivals.reduce((best, rival) => (later(end(best), end(rival)) === end(best) ? best : rival));
    const gone = new Set(rivals.filter((rival) => rival !== winner && end(rival) > at(summedUp, winner)));
    for (const index of gone) for (const child of childrenOf(forest, index)) gone.add(child);
    for (const index of gone) left.add(index);
  });
  const pick = (isLeft: boolean): LogLine[] =>
    Array.from(ordered.filter((index) => left.has(index) === isLeft))
      .flatMap((index) => lines[index] ?? [])
      .filter(isOwn);
  return { active: pick(false), abandoned: pick(true) };
}
