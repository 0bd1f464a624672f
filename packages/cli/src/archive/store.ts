import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { chmod, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { matches } from "@imprint/contracts/fields";
import { type Static, Type } from "typebox";
import { CommandError } from "../errors.js";

const Hash = Type.String({ pattern: "^[0-9a-f]{64}$" });

/** A recording that is kept: as it was last seen, and before that where it was rewritten instead of continued. */
const Kept = Type.Object({
  path: Type.String({ minLength: 1 }),
  size: Type.Integer({ minimum: 0 }),
  modified: Type.Number({ description: "ms since 1970, as the file system said" }),
  sha256: Hash,
  older: Type.Array(Hash),
});
export type Kept = Static<typeof Kept>;
const Index = Type.Object({ version: Type.Literal(1), files: Type.Array(Kept) });

/** Raw copies of recordings: `index.json`, and each content once, compressed, under its SHA-256. */
export interface Archive {
  readonly folder: string;
  readonly files: Map<string, Kept>;
}

const placeOf = ({ folder }: Pick<Archive, "folder">, sha256: string): string =>
  path.join(folder, sha256.slice(0, 2), `${sha256}.gz`);

const missing = (error: NodeJS.ErrnoException): null => {
  if (error.code === "ENOENT") return null;
  throw error;
};

/** Null where nothing was ever archived. Throws a CommandError for an index that another program wrote or broke. */
export async function openArchive(folder: string): Promise<Archive | null> {
  const text = await readFile(path.join(folder, "index.json"), "utf8").catch(missing);
  if (text === null) return null;
  let index: unknown;
  try {
    index = JSON.parse(text);
  } catch {
    index = null;
  }
  if (!matches(Index, index))
    throw new CommandError(`${path.join(folder, "index.json")} cannot be read: move it away and archive anew.`);
  return { folder, files: new Map(index.files.map((one) => [one.path, one])) };
}

/** Forces the names in a folder to the disk. Windows cannot open folders. */
async function syncNames(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder);
  await handle.sync().finally(() => handle.close());
}

/** The new index stands whole, or the old one does; what it names is on the disk before it is. */
export async function saveArchive({ folder, files }: Archive): Promise<void> {
  const file = path.join(folder, "index.json");
  const draft = `${file}.${process.pid}`;
  for (const name of await readdir(folder)) if (name.length === 2) await syncNames(path.join(folder, name));
  await writeFile(draft, `${JSON.stringify({ version: 1, files: [...files.values()] })}\n`, { mode: 0o600, flush: true });
  await syncNames(folder);
  await rename(draft, file);
  await syncNames(folder);
}

interface Read {
  readonly sha256: string;
  readonly size: number;
  /** Of the first `before` bytes, where there are that many. */
  readonly prefix: string | null;
}

/** Copies a file into the archive by its content. `before`: how long it was when it was last copied. */
async function copyIn(archive: Archive, file: string, before: number): Promise<Read> {
  const hash = createHash("sha256");
  let [size, prefix]: [number, string | null] = [0, null];
  const hashed = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const rest = before - size;
      if (prefix === null && rest <= chunk.length) {
        prefix = hash.update(chunk.subarray(0, rest)).copy().digest("hex");
        hash.update(chunk.subarray(rest));
      } else hash.update(chunk);
      size += chunk.length;
      done(null, chunk);
    },
  });
  const draft = path.join(archive.folder, `draft-${process.pid}`);
  try {
    await pipeline(createReadStream(file), hashed, createGzip(), createWriteStream(draft, { mode: 0o600, flush: true }));
    const sha256 = hash.digest("hex");
    const place = placeOf(archive, sha256);
    await mkdir(path.dirname(place), { recursive: true, mode: 0o700 });
    await rename(draft, place);
    return { sha256, size, prefix };
  } finally {
    await rm(draft, { force: true });
  }
}

export type Change = "new" | "changed" | "same";

/**
 * Keeps a file as it is now. What it was before goes where it only grew or `rewrites` itself, as databases do; else it stays too, so that
 * nothing that an agent deletes or cuts is lost.
 */
export async function keep(archive: Archive, file: string, rewrites: boolean): Promise<Change> {
  const { size, mtimeMs: modified } = await stat(file);
  const known = archive.files.get(file);
  if (known?.size === size && known.modified === modified) return "same";
  await mkdir(archive.folder, { recursive: true, mode: 0o700 });
  await chmod(archive.folder, 0o700);
  const read = await copyIn(archive, file, known?.size ?? 0);
  const isSame = known?.sha256 === read.sha256;
  const goesOn = known === undefined || isSame || rewrites || read.prefix === known.sha256;
  const older = [...new Set([...(known?.older ?? []), ...(goesOn ? [] : [known.sha256])])].filter((one) => one !== read.sha256);
  archive.files.set(file, { path: file, size: read.size, modified, sha256: read.sha256, older });
  return known === undefined ? "new" : isSame ? "same" : "changed";
}

/** Removes these contents where no file needs them any more; after the index is saved, so that a crash leaves too much. */
export async function drop(archive: Archive, contents: Iterable<string>): Promise<void> {
  const needed = new Set([...archive.files.values()].flatMap(({ sha256, older }) => [sha256, ...older]));
  for (const sha256 of new Set(contents)) if (!needed.has(sha256)) await rm(placeOf(archive, sha256), { force: true });
}

export const read = (archive: Archive, sha256: string): NodeJS.ReadableStream => {
  const file = createReadStream(placeOf(archive, sha256));
  const plain = createGunzip();
  file.once("error", (error) => plain.destroy(error));
  return file.pipe(plain);
};

/** Writes a content where nothing stands, or over what does. */
export async function restore(archive: Archive, sha256: string, target: string): Promise<void> {
  await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
  const draft = `${target}.${process.pid}.draft`;
  try {
    await pipeline(read(archive, sha256), createWriteStream(draft, { mode: 0o600 }));
    await rename(draft, target);
  } finally {
    await rm(draft, { force: true });
  }
}
