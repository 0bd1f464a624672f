import { dispatcher } from "./detect.js";
import type { Draft } from "./draft.js";
import type { Facts } from "./facts.js";
import type { Output } from "./formats/format.js";
import { bySequence, itemsOf } from "./import-sessions.js";
import { LIMITS } from "./source/limits.js";
import { bytesOf, type SourceFile } from "./source/source-file.js";

/** Bytes within which recordings of lines say where they were made. */
const HEAD = 64 * 1024;

/** At least so many bytes, cut where they are; a torn line is passed over. */
async function* beginning(bytes: AsyncIterable<Uint8Array>, length: number): AsyncGenerator<Uint8Array> {
  let read = 0;
  for await (const piece of bytes) {
    yield piece.subarray(0, length - read);
    read += piece.length;
    if (read >= length) return;
  }
}

async function factsIn(files: readonly SourceFile[], length: number): Promise<Facts | null> {
  const made: Draft[] = [];
  const output: Output = {
    conversation: (one) => made.push(one),
    badRecord: () => {},
    fit: (text) => text,
    hold: () => {},
    warn: () => {},
  };
  const found = dispatcher({ name: "The file", output, forced: undefined, head: LIMITS.head });
  for (const file of files.slice(0, length === HEAD ? 2 : files.length))
    for await (const items of itemsOf(beginning(bytesOf(file), length), file.name, LIMITS)) found.accept(items);
  found.finish();
  return made.find(({ facts }) => facts.folder !== null || facts.repository !== null)?.facts ?? null;
}

/**
 * Where the session in files was recorded, from their beginning where that says it: nothing is redacted or kept, so that thousands
 * of recordings can be asked before any is imported. Null where they do not say it, or are no session.
 */
export async function peekFacts(files: readonly SourceFile[]): Promise<Facts | null> {
  const ordered = [...files].sort(bySequence);
  for (const length of [HEAD, Number.POSITIVE_INFINITY]) {
    // What is cut off can be no document any more.
    const facts = await factsIn(ordered, length).catch(() => null);
    if (facts !== null) return facts;
  }
  return null;
}
