import { type JsonObject, objectOrEmpty, parseJson, scalarText, stringOrNull } from "../../values/json.js";
import { classifyUserText } from "./harness.js";
import type { LogLine } from "./line.js";

/** A line of a log about what waits while the model works: `enqueue`, and later `dequeue`, `remove` or `popAll`. */
export interface QueueLine {
  readonly operation: string;
  /** Null where it holds no words, as of an image alone. */
  readonly content: string | null;
  /** Whether what waits is no person's. */
  readonly isNote: boolean;
  /** Where it stands among the lines of the log. */
  readonly at: number;
}

/** Background tasks wait in the same queue, as JSON. */
const isTask = (content: string): boolean => content.startsWith("{") && "task_id" in objectOrEmpty(parseJson(content));

export function queueLine(record: JsonObject, at: number): QueueLine {
  const said = stringOrNull(record.content);
  const content = said === null || isTask(said) ? null : said;
  const isNote = said !== null && (content === null || ["harness", "note"].includes(classifyUserText(said).kind));
  return { operation: scalarText(record.operation), content, isNote, at };
}

export interface Queued {
  /** What was said on no other line, by the place where the model got it. */
  readonly requests: ReadonlyMap<number, string>;
  /** How many waited in vain. */
  readonly unsent: number;
}

/** Things by a text that several can have, each of them found once, the first first. */
class Shelf<Item> {
  readonly #items = new Map<string, { readonly list: Item[]; next: number }>();

  put(text: string, item: Item): void {
    const known = this.#items.get(text);
    if (known === undefined) this.#items.set(text, { list: [item], next: 0 });
    else known.list.push(item);
  }

  take(text: string, isRight: (item: Item) => boolean): Item | undefined {
    const items = this.#items.get(text);
    while (items !== undefined && items.next < items.list.length) {
      const item = items.list[items.next++];
      if (item !== undefined && isRight(item)) return item;
    }
    return undefined;
  }
}

/** Of each line what the next message behind it says, where that is a turn of somebody. */
function turnsAhead(lines: readonly LogLine[]): readonly (string | null)[] {
  const ahead: (string | null)[] = [];
  let turn: string | null = null;
  for (const [index, { kind, text, results }] of [...lines.entries()].reverse()) {
    ahead[index] = turn;
    if (kind !== "other") turn = kind === "user" && results.length === 0 ? text : null;
  }
  return ahead;
}

/**
 * Requests that a person made while the model worked. Builds that write them down as a line of their own when the model gets
 * them, or as an attachment, name them here too; older ones here only.
 */
export function queuedRequests(queue: readonly QueueLine[], lines: readonly LogLine[]): Queued {
  const requests = new Map<number, string>();
  if (queue.length === 0) return { requests, unsent: 0 };
  const rows = new Shelf<number>();
  lines.forEach(({ kind, text }, at) => {
    if (kind === "user" && text !== null) rows.put(text.trim(), at);
  });
  const settle = ({ content, at }: QueueLine, place: number): void => {
    if (content !== null && rows.take(content.trim(), (row) => row > at) === undefined) requests.set(place, content);
  };
  /** Where words were taken for a turn that no line shows: waiting once more, they have not been said yet. */
  const turns = new Map<string, number>();
  const ahead = turnsAhead(lines);
  const own = new Set<QueueLine>();
  /** What is no person's: nothing says of many of them that they were taken. */
  const notes = new Set<QueueLine>();
  const byContent = new Shelf<QueueLine>();
  const named = (text: string): QueueLine | undefined => byContent.take(text.trim(), (one) => own.has(one) || notes.has(one));
  for (const line of queue) {
    const { operation, content, at } = line;
    if (operation === "enqueue") {
      (line.isNote ? notes : own).add(line);
      if (content === null) continue;
      byContent.put(content.trim(), line);
      requests.delete(turns.get(content.trim()) ?? -1);
    } else if (operation === "popAll") own.clear();
    else {
      // What a turn of its own begins with can stand there in other words, as commands do.
      const turn = operation === "dequeue" ? (ahead[at] ?? null) : null;
      const [note] = notes;
      const [oldest = note] = own;
      const taken = content === null ? ((turn === null ? undefined : named(turn)) ?? oldest) : (named(content) ?? line);
      if (taken === undefined) continue;
      own.delete(taken);
      notes.delete(taken);
      if (turn === null) settle(taken, at);
      if (operation === "dequeue" && taken.content !== null) turns.set(taken.content.trim(), at);
    }
  }
  for (const line of notes) settle(line, line.at);
  // Where no line says what became of any of them, they were sent.
  const isKnown = queue.some(({ operation }) => operation !== "enqueue");
  if (!isKnown) for (const line of own) settle(line, line.at);
  return { requests, unsent: isKnown ? own.size : 0 };
}
