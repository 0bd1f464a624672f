import { isObject } from "@imprint/contracts";
import { SessionUnreadable } from "../session-unreadable.js";
import { refuseArchives } from "../source/archives.js";
import { baseName } from "../source/content-hash.js";
import { decompress } from "../source/decompress.js";
import { LIMITS } from "../source/limits.js";
import { toUtf8 } from "../source/lines.js";
import { bytesOf, type SourceFile } from "../source/source-file.js";
import { tally } from "../tally.js";
import { parseJson } from "../values/json.js";
import { redactor } from "./redactor.js";

export interface RedactedRecording {
  /** The files' texts in the order that they were given in: UTF-8, decompressed, and nothing but strings changed. */
  readonly texts: readonly string[];
  readonly redactions: readonly { readonly kind: string; readonly count: number }[];
}

/** A file is held as a whole, since a secret of its last line may stand in its first. */
const MOST_BYTES = 256 * 1024 * 1024;
/** Values beside their names: longer ones speak for themselves. */
const LONGEST_VALUE = 500;

async function* bounded(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of bytes) {
    length += chunk.length;
    if (length > MOST_BYTES)
      throw new SessionUnreadable(`${name} holds more than ${MOST_BYTES} bytes of text; split it into smaller files.`);
    yield chunk;
  }
}

async function textOf(file: SourceFile): Promise<string> {
  const name = baseName(file.name);
  const bytes = refuseArchives(decompress(bytesOf(file), name, LIMITS), name);
  const chunks: Uint8Array[] = [];
  for await (const chunk of toUtf8(bounded(bytes, name))) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** A stretch of a file: what stands between strings, or a string (`said` is its text) as JSON writes it. */
interface Piece {
  readonly raw: string;
  readonly said?: string;
  readonly isJson?: boolean;
}

/** The end of the JSON string that begins at a place, or of its line where it is torn. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at++;
    else if (code === 0x22) return at + 1;
    else if (code === 0x0a) return at;
  }
  return text.length;
}

/** The strings of JSON, names of fields among them, and what stands between; any other text is one string. */
function piecesOf(text: string): Piece[] {
  if (!/^\ufeff?\s*[[{]/.test(text)) return [{ raw: text, said: text }];
  const pieces: Piece[] = [];
  let from = 0;
  for (let start = text.indexOf('"'); start >= 0; start = text.indexOf('"', from)) {
    if (start > from) pieces.push({ raw: text.slice(from, start) });
    from = stringEnd(text, start);
    const raw = text.slice(start, from);
    const said = parseJson(raw);
    pieces.push(typeof said === "string" ? { raw, said, isJson: true } : { raw, said: raw });
  }
  return [...pieces, { raw: text.slice(from) }];
}

/** What tells by its name that it is a secret: each object's own short values, with their names. */
function* namedValues(value: unknown): Generator<string> {
  if (Array.isArray(value)) for (const one of value) yield* namedValues(one);
  if (!isObject(value)) return;
  const own = Object.entries(value).filter(([, one]) => typeof one === "string" && one.length <= LONGEST_VALUE);
  if (own.length > 0) yield JSON.stringify(Object.fromEntries(own));
  for (const one of Object.values(value)) yield* namedValues(one);
}

function records(text: string): readonly unknown[] {
  const whole = parseJson(text);
  return whole === undefined ? text.split("\n").map(parseJson) : [whole];
}

/**
 * The files of one recording with every string of theirs redacted, names of fields too. JSON stays JSON of the same shape: only
 * strings that held something are written anew.
 * @throws SessionUnreadable for archives, what cannot be decompressed and what is too large
 */
export async function redactRecording(files: readonly SourceFile[]): Promise<RedactedRecording> {
  const all: Piece[][] = [];
  const named: string[] = [];
  for (const file of files) {
    const text = await textOf(file);
    all.push(piecesOf(text));
    for (const record of records(text)) named.push(...namedValues(record));
  }
  const strings = all.flat().flatMap(({ said }) => (said === undefined ? [] : [said]));
  const kinds = tally();
  const clean = redactor().redact([...strings, ...named], (kind, index) => {
    if (index < strings.length) kinds.add(kind);
  });
  let next = 0;
  const written = ({ raw, said, isJson = false }: Piece): string => {
    if (said === undefined) return raw;
    const text = clean[next++] ?? "";
    return text === said ? raw : isJson ? JSON.stringify(text) : text;
  };
  return {
    texts: all.map((pieces) => pieces.map(written).join("")),
    redactions: kinds.entries().map(([kind, count]) => ({ kind, count })),
  };
}
