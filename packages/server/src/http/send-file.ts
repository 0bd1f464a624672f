import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { AdapterFile } from "@imprint/contracts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { nullIfMissing, ProblemError } from "../common/error.js";
import { openUnfollowed } from "../storage/durable.js";
import { problems } from "./schemas.js";

const TYPES: readonly (readonly [suffix: string, type: string])[] = [
  [".json", "application/json; charset=utf-8"],
  [".jsonl", "application/x-ndjson; charset=utf-8"],
  [".md", "text/markdown; charset=utf-8"],
  [".txt", "text/plain; charset=utf-8"],
];

const typeOf = (name: string): string => TYPES.find(([suffix]) => name.endsWith(suffix))?.[1] ?? "application/octet-stream";

/** A regular file, opened; null for anything else. */
const openFile = async (path: string): Promise<{ readonly handle: FileHandle; readonly size: number } | null> => {
  const opened = await openUnfollowed(path).catch(nullIfMissing);
  if (opened?.stats.isFile()) return { handle: opened.handle, size: opened.stats.size };
  await opened?.handle.close();
  return null;
};

/** Whether the client has what the tag names: a weak comparison (RFC 9110, section 13.1.2). */
const isKnown = (header: string | undefined, etag: string): boolean =>
  header?.split(",").some((known) => known.trim() === "*" || known.trim().replace(/^W\//, "") === etag) ?? false;

const binary = (description: string) => ({
  description,
  content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
});

/** The answers of a download, for its response schemas. */
export const DOWNLOAD = {
  200: binary("The file"),
  206: binary("The range that was asked for"),
  304: { description: "If-None-Match has the file's hash", type: "null" },
  ...problems("RANGE_NOT_SATISFIABLE"),
};

/** HEAD answers as GET does, and reads nothing of what GET would send: Fastify reads a stream to its end to forget it. */
export const addHeadAnswers = (app: FastifyInstance): void => {
  app.addHook("onSend", async ({ method }, _reply, payload) => {
    if (method === "HEAD" && payload instanceof Readable) payload.destroy();
    return payload;
  });
};

/**
 * Sends a recorded file of `folder`, or the range that the request asks for. False when no file of that name is on the disk. The reply is
 * no answer of this: it is a promise of its end, which whoever awaits it would wait for.
 */
export const sendFile = async (
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { folder, file }: { readonly folder: string; readonly file: AdapterFile },
): Promise<boolean> => {
  const opened = await openFile(join(folder, file.name));
  if (opened === null) return false;
  const { handle, size } = opened;
  const etag = `"${file.sha256}"`;
  reply.headers({ "accept-ranges": "bytes", etag });
  const sendNothing = async (status: number): Promise<boolean> => {
    await handle.close();
    reply.code(status).send();
    return true;
  };
  if (isKnown(headers["if-none-match"], etag)) return sendNothing(304);
  const ifRange = headers["if-range"];
  const range = ifRange === undefined || ifRange === etag ? parseRange(headers.range, size) : null;
  if (range === "unsatisfiable") {
    await handle.close();
    throw new ProblemError("RANGE_NOT_SATISFIABLE", `The file has ${size} bytes: ask for a range that begins before its end.`, {
      headers: { "content-range": `bytes */${size}` },
    });
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  reply.header("content-length", end - start + 1).type(typeOf(file.name));
  if (size === 0) return sendNothing(200);
  if (range) reply.code(206).header("content-range", `bytes ${start}-${end}/${size}`);
  reply.send(handle.createReadStream({ start, end }));
  return true;
};

/** Bytes of a file, both ends included. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The one range that a Range header asks for. Null: send all (no header, several ranges, or another unit: RFC 9110 lets a server
 * ignore those). "unsatisfiable": it starts behind the end.
 */
const parseRange = (header: string | undefined, size: number): ByteRange | "unsatisfiable" | null => {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.replaceAll(" ", "") ?? "") ?? [];
  if (first === "" && last === "") return null;
  if (first === "")
    return Number(last) === 0 || size === 0 ? "unsatisfiable" : { start: Math.max(0, size - Number(last)), end: size - 1 };
  const start = Number(first);
  const end = last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== "" && Number(last) < start) return null;
  return start >= size ? "unsatisfiable" : { start, end };
};
