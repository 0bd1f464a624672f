import { createWriteStream } from "node:fs";
import { utimes, writeFile } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import type { Session, Step } from "@imprint/contracts";
import { writeSynced } from "../storage/durable.js";
import { openSession, type SessionFile } from "./session-file.js";

/** Steps written at once. */
const PIECE = 256;
const MEGABYTE = 1024 * 1024;
const LINE_END = 0x0a;

function* listOf(steps: readonly Step[]): Generator<string> {
  for (let from = 0; from < steps.length; from += PIECE)
    yield `${from === 0 ? "" : ","}${JSON.stringify(steps.slice(from, from + PIECE)).slice(1, -1)}`;
}

/** What `JSON.stringify` makes of a session, in pieces: a long one would otherwise be in memory again as a text, and once more as bytes. */
function* jsonOf(session: Session): Generator<string> {
  let before = "{";
  for (const [field, value] of Object.entries(session)) {
    yield `${before}${JSON.stringify(field)}:`;
    if (field === "steps") {
      yield "[";
      yield* listOf(session.steps);
      yield "]";
    } else yield JSON.stringify(value);
    before = ",";
  }
  yield "}";
}

/** Writes a session into a new file, whose time is when the session was stored; unless `synced` is false, it is on the disk then. */
export const writeSession = async (
  session: Session,
  { path, storedAt, synced = true }: { readonly path: string; readonly storedAt: string; readonly synced?: boolean },
): Promise<void> => {
  if (synced) await writeSynced(path, jsonOf(session));
  else await writeFile(path, jsonOf(session), { flag: "wx", mode: 0o600 });
  await utimes(path, new Date(storedAt), new Date(storedAt));
};

/**
 * Copies a stored session as it is, piece by piece. Older versions wrote a line's end, which is no part of the document that a
 * training's record has the hash of.
 */
export const copySession = async (file: SessionFile, target: string): Promise<void> => {
  const { handle, stats } = await openSession(file);
  try {
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, stats.size - 1);
    const end = stats.size - (buffer[0] === LINE_END ? 2 : 1);
    const pieces = handle.createReadStream({ start: 0, end, highWaterMark: MEGABYTE, autoClose: false });
    await pipeline(pieces, createWriteStream(target, { flags: "wx", mode: 0o600 }));
  } finally {
    await handle.close();
  }
};
