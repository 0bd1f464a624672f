import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { SessionUnreadable, type SourceFile } from "@imprint/sessions";
import { bytes as size } from "../output/text.js";
import type { Candidate } from "./walk.js";

/** What a service can be set to take at once (session_limit). */
const LARGEST = 2 ** 30;

/** A file that cannot be imported for a reason of its own. */
export class FileRefused extends Error {
  override readonly name = "FileRefused";
}

type Recorded = Pick<Candidate, "path" | "parts" | "size">;

const refuseEmpty = ({ path: file, size: length }: Recorded): void => {
  if (length === 0) throw new SessionUnreadable(`${path.basename(file)} is empty.`);
};

/** The candidate's files, read piece by piece when they are asked for. */
export function sourcesOf(recorded: Recorded): SourceFile[] {
  refuseEmpty(recorded);
  const { path: file, parts = [file] } = recorded;
  return parts.map((part) => ({ name: path.basename(part), bytes: () => createReadStream(part) }));
}

/** The candidate as one body: the files of a folder one a line, since line breaks in JSON only stand between values. */
export async function bodyOf(recorded: Recorded): Promise<Uint8Array> {
  refuseEmpty(recorded);
  const { path: file, parts, size: length } = recorded;
  if (length > LARGEST) throw new FileRefused(`has ${size(length)}, and a service takes at most ${size(LARGEST)} at once`);
  if (parts === undefined) return readFile(file);
  const texts = await Promise.all(parts.map((part) => readFile(part, "utf8")));
  return new TextEncoder().encode(texts.map((text) => `${text.replaceAll(/\r?\n/g, " ")}\n`).join(""));
}
