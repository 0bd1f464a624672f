import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { foreignFile, SessionUnreadable, type SourceFile } from "@imprint/sessions";
import type { Candidate } from "./candidate.js";

type Recorded = Pick<Candidate, "path" | "parts" | "lines" | "size">;

async function* bytesOf(lines: Iterable<string>): AsyncGenerator<Uint8Array> {
  for (const line of lines) yield Buffer.from(line);
}

/** The service is sent no names, so what a name says is said here. */
const refuse = ({ path: file, size: length }: Recorded): void => {
  const name = path.basename(file);
  if (length === 0) throw new SessionUnreadable(`${name} is empty.`);
  const refused = foreignFile(name);
  if (refused !== null) throw new SessionUnreadable(`${name} ${refused}`);
};

/** The candidate's files, read piece by piece when they are asked for. */
export function sourcesOf(recorded: Recorded): SourceFile[] {
  refuse(recorded);
  const { path: file, parts = [file], lines } = recorded;
  if (lines !== undefined) return [{ name: path.basename(file), bytes: () => bytesOf(lines()) }];
  return parts.map((part) => ({ name: path.basename(part), bytes: () => createReadStream(part) }));
}

/**
 * The candidate as one body, which is read piece by piece when it is sent. A JSON file of a folder becomes a line, since line
 * breaks in JSON only stand between values; any other is a piece that holds lines.
 */
export function bodyOf(recorded: Recorded): () => AsyncIterable<Uint8Array> {
  refuse(recorded);
  const { path: file, parts, lines } = recorded;
  if (lines !== undefined) return () => bytesOf(lines());
  if (parts === undefined) return () => createReadStream(file);
  return async function* () {
    for (const part of parts) {
      if (part.endsWith(".json")) yield Buffer.from((await readFile(part, "utf8")).replaceAll(/\r?\n/g, " "));
      else yield* createReadStream(part);
      yield Buffer.from("\n");
    }
  };
}
