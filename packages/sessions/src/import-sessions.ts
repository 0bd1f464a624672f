import type { Outcome, Session, SessionFormat } from "@imprint/contracts";
import { type Collector, collector } from "./collector.js";
import { dispatcher, isTextLine } from "./detect.js";
import type { Draft } from "./draft.js";
import { DROPPED, unreadKinds } from "./dropped.js";
import { inFolder } from "./facts.js";
import { CONVERT, foreignFile } from "./foreign.js";
import type { Output } from "./formats/format.js";
import type { ImportedFile } from "./imported-file.js";
import { SessionUnreadable } from "./session-unreadable.js";
import { refuseArchives } from "./source/archives.js";
import { baseName, commonHash, hashAhead, hashedBytes } from "./source/content-hash.js";
import { decompress, isParquet, MAGIC_LENGTH } from "./source/decompress.js";
import { type Items, itemBatches } from "./source/items.js";
import { LIMITS, type Limits } from "./source/limits.js";
import { lineBatches } from "./source/lines.js";
import { peek } from "./source/peek.js";
import { bytesOf, type SourceFile } from "./source/source-file.js";
import { textBudget } from "./source/text-budget.js";

export interface ImportOptions {
  /** Reads the file as this format instead of finding out. */
  readonly format?: SessionFormat;
  /** What is known about the end of the session beside the file. */
  readonly outcome?: Outcome;
  /** The folder of sessions that do not say theirs: some agents name it in the place of the file alone. */
  readonly folder?: string;
  /**
   * Takes the sessions one by one, so that a file of many conversations is never held as a whole. Needs files whose
   * `bytes` are a function, since the ids come from the hash of the whole content.
   */
  readonly onSession?: (session: Session) => void | Promise<void>;
  readonly limits?: Limits;
}

/** What a file holds: the rows of a table, or the records or lines of a text. */
export async function* itemsOf(bytes: AsyncIterable<Uint8Array>, name: string, limits: Limits): AsyncGenerator<Items> {
  const refused = foreignFile(name);
  if (refused !== null) throw new SessionUnreadable(`${name} ${refused}`);
  const { head, bytes: all } = await peek(decompress(bytes, name, limits), MAGIC_LENGTH);
  if (isParquet(head)) {
    // Loaded at the first table: no other file needs it.
    const { parquetItems } = await import("./source/parquet.js");
    return yield* parquetItems(all, name, limits);
  }
  yield* itemBatches(lineBatches(refuseArchives(all, name), name, limits), isTextLine, limits);
}

export const bySequence = (left: SourceFile, right: SourceFile): number =>
  left.name.localeCompare(right.name, "en", { numeric: true });

const KINDS_NAMED = 5;

/** Why a file of a known format has no session. Lines that the format does not have may be another tool's, whose marks are the same. */
function whyEmpty(unread: ReadonlySet<string>, bad: number): string {
  const strange = [...unread, ...(bad === 0 ? [] : ["broken ones"])];
  if (strange.length === 0) return "holds no message of a person or a model";
  const named = strange.slice(0, KINDS_NAMED).join(", ");
  return `holds no message that is read (other lines: ${named}); if another tool wrote it, its format is not known: ${CONVERT}`;
}

/**
 * Reads the files of one session (or one file of many conversations) into canonical sessions: finds the format from the
 * content, leaves out what must not be trained on, and replaces secrets. Does no I/O of its own.
 * @throws SessionUnreadable when the files are no session of a known format, or exceed the limits.
 */
export async function importSessions(files: readonly SourceFile[], options: ImportOptions = {}): Promise<ImportedFile> {
  const ordered = [...files].sort(bySequence);
  const name = baseName(ordered[0]?.name ?? "The file");
  const limits = options.limits ?? LIMITS;
  const budget = textBudget(name, limits);
  const made: Draft[] = [];
  const warnings: string[] = [];
  const unread = new Set<string>();
  let bad = 0;
  const output: Output = {
    conversation: (one) => {
      for (const kind of unreadKinds(one.dropped.map(([reason]) => reason))) unread.add(kind);
      made.push({ ...one, facts: inFolder(one.facts, options.folder) });
    },
    badRecord: () => bad++,
    fit: budget.fit,
    hold: budget.hold,
    warn: (sentence) => warnings.push(sentence),
  };
  const found = dispatcher({ name, output, forced: options.format, head: limits.head });
  // Ids need the hash of the whole content, so sessions can only be handed over early when it is read twice.
  const knownHash = options.onSession === undefined ? null : await hashAhead(ordered);
  const sessions: Collector = collector({
    outcome: options.outcome,
    onSession: options.onSession,
    sha256: knownHash,
    settle: budget.settle,
    check: (count) => {
      if (count > limits.conversations)
        throw new SessionUnreadable(
          `${name} holds more than ${limits.conversations} conversations; split it into smaller files.`,
          { limit: "conversations" },
        );
    },
  });

  const hashes: string[] = [];
  for (const file of ordered) {
    const { bytes, digest } = knownHash === null ? hashedBytes(file) : { bytes: bytesOf(file), digest: () => "" };
    const named = baseName(file.name);
    for await (const items of itemsOf(bytes, named, limits)) {
      if (items.kind === "records") bad += items.bad;
      found.accept(items);
      await sessions.take(made.splice(0), found.format());
    }
    // A decompressor may stop before the end; the hash is of all bytes.
    for await (const _ of bytes);
    hashes.push(digest());
  }
  const format = found.finish();
  await sessions.take(made.splice(0), format);
  const imported = await sessions.finish({ format, sha256: knownHash ?? commonHash(ordered, hashes), badLines: bad, warnings });
  if (imported.session_count === 0) throw new SessionUnreadable(`${name} looks like ${format}, but ${whyEmpty(unread, bad)}.`);
  return budget.shortened() === 0
    ? imported
    : {
        ...imported,
        warnings: [...imported.warnings, `${budget.shortened()} times ${DROPPED.shortened}: the file holds more than is kept.`],
      };
}
