import { foreignDatabase } from "../foreign.js";
import { SessionUnreadable } from "../session-unreadable.js";
import { peek } from "./peek.js";

/** A kind of file, by the bytes that it has at a place. */
interface Kind {
  readonly what: string;
  readonly magic: string;
  readonly at?: number;
}

/** Bytes are written as the characters of Latin-1. */
const CONTAINERS: readonly Kind[] = [
  { what: "a ZIP archive", magic: "PK\x03\x04" },
  { what: "a ZIP archive", magic: "PK\x05\x06" },
  { what: "a 7z archive", magic: "7z\xbc\xaf\x27\x1c" },
  { what: "a RAR archive", magic: "Rar!\x1a\x07" },
  { what: "an xz file", magic: "\xfd7zXZ\x00" },
  { what: "a bzip2 file", magic: "BZh" },
  { what: "an LZ4 file", magic: "\x04\x22\x4d\x18" },
  { what: "a tar archive", magic: "ustar", at: 257 },
];

/** opencode's and Cursor's own are opened where files are found, by their names. */
/** What holds no text at all. */
const OTHERS: readonly Kind[] = [
  { what: "a PNG picture", magic: "\x89PNG" },
  { what: "a JPEG picture", magic: "\xff\xd8\xff" },
  { what: "a GIF picture", magic: "GIF8" },
  { what: "a PDF", magic: "%PDF-" },
  { what: "a model's file (GGUF)", magic: "GGUF" },
];

const SQLITE = "SQLite format 3\x00";

/** The first pages of a database, which hold its schema. */
const HEAD = 64 * 1024;

/**
 * The bytes as they are.
 * @throws SessionUnreadable when they begin like a container, whose files' lines would be taken for a session with bad lines.
 */
export async function* refuseArchives(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const { head, bytes: all } = await peek(bytes, HEAD);
  const text = Buffer.from(head).toString("latin1");
  if (text.startsWith(SQLITE)) throw new SessionUnreadable(`${name} ${foreignDatabase(text)}`);
  const found = CONTAINERS.find(({ magic, at = 0 }) => text.startsWith(magic, at));
  if (found !== undefined)
    throw new SessionUnreadable(`${name} is ${found.what}, which Imprint does not read; unpack it and bring the files in it.`);
  const other = OTHERS.find(({ magic }) => text.startsWith(magic));
  if (other !== undefined) throw new SessionUnreadable(`${name} is ${other.what}, and no recorded session.`);
  yield* all;
}
