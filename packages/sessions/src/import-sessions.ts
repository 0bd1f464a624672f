import { createHash } from "node:crypto";
import type { Outcome, Session, SessionFormat } from "@imprint/contracts";
import { type Collector, collector } from "./collector.js";
import { dispatcher, isTextLine } from "./detect.js";
import type { Draft } from "./draft.js";
import { DROPPED } from "./dropped.js";
import type { Output } from "./formats/format.js";
import type { ImportedFile } from "./imported-file.js";
import { SessionUnreadable } from "./session-unreadable.js";
import { decompress } from "./source/decompress.js";
import { itemBatches } from "./source/items.js";
import { LIMITS, type Limits } from "./source/limits.js";
import { lineBatches } from "./source/lines.js";
import { bytesOf, type SourceFile } from "./source/source-file.js";
import { textBudget } from "./source/text-budget.js";

export interface ImportOptions {
  /** Reads the file as this format instead of finding out. */
  readonly format?: SessionFormat;
  /** What is known about the end of the session beside the file. */
  readonly outcome?: Outcome;
  /**
   * Takes the sessions one by one, so that a file of many conversations is never held as a whole. Needs files whose
   * `bytes` are a function, since the ids come from the hash of the whole content.
   */
  readonly onSession?: (session: Session) => void | Promise<void>;
  readonly limits?: Limits;
}

const bySequence = (left: SourceFile, right: SourceFile): number => left.name.localeCompare(right.name, "en", { numeric: true });

const baseName = (path: string): string => path.split(/[/\\]/).at(-1) ?? path;

interface Hashing {
  readonly bytes: AsyncGenerator<Uint8Array>;
  digest(): string;
}

function hashing(file: SourceFile): Hashing {
  const hash = createHash("sha256");
  async function* read(): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytesOf(file)) {
      hash.update(chunk);
      yield chunk;
    }
  }
  return { bytes: read(), digest: () => hash.digest("hex") };
}

/** One file's hash is that of its bytes; several files' is that of their names and hashes, in order. */
function commonHash(files: readonly { name: string; sha256: string }[]): string {
  const [only] = files;
  if (files.length === 1 && only !== undefined) return only.sha256;
  return createHash("sha256")
    .update(files.map(({ name, sha256 }) => `${sha256}  ${baseName(name)}\n`).join(""))
    .digest("hex");
}

async function hashFirst(files: readonly SourceFile[]): Promise<string | null> {
  if (!files.every((file) => typeof file.bytes === "function" || file.bytes instanceof Uint8Array)) return null;
  const hashes: { name: string; sha256: string }[] = [];
  for (const file of files) {
    const { bytes, digest } = hashing(file);
    for await (const _ of bytes);
    hashes.push({ name: file.name, sha256: digest() });
  }
  return commonHash(hashes);
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
  let bad = 0;
  const output: Output = {
    conversation: (one) => made.push(one),
    badRecord: () => bad++,
    fit: budget.fit,
    hold: budget.hold,
    warn: (sentence) => warnings.push(sentence),
  };
  const found = dispatcher({ name, output, forced: options.format, head: limits.head });
  // Ids need the hash of the whole content, so sessions can only be handed over early when it is read twice.
  const knownHash = options.onSession === undefined ? null : await hashFirst(ordered);
  const sessions: Collector = collector({
    outcome: options.outcome,
    onSession: options.onSession,
    sha256: knownHash,
    release: budget.release,
  });

  const hashes: { name: string; sha256: string }[] = [];
  for (const file of ordered) {
    const { bytes, digest } = hashing(file);
    const lines = lineBatches(decompress(bytes, baseName(file.name)), baseName(file.name), limits);
    for await (const items of itemBatches(lines, isTextLine, limits)) {
      if (items.kind === "records") bad += items.bad;
      found.accept(items);
      await sessions.take(made.splice(0), found.format());
    }
    // A decompressor may stop before the end; the hash is of all bytes.
    for await (const _ of bytes);
    hashes.push({ name: file.name, sha256: digest() });
  }
  const format = found.finish();
  await sessions.take(made.splice(0), format);
  const imported = await sessions.finish({ format, sha256: commonHash(hashes), badLines: bad, warnings });
  if (imported.session_count === 0)
    throw new SessionUnreadable(`${name} looks like ${format}, but holds no message of a person or a model.`);
  return budget.shortened() === 0
    ? imported
    : {
        ...imported,
        warnings: [...imported.warnings, `${budget.shortened()} times ${DROPPED.shortened}: the file holds more than is kept.`],
      };
}
