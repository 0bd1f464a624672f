import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { AdapterFile } from "@imprint/contracts";
import type { FastifyReply, FastifyRequest } from "fastify";
import { parseRange } from "./range.js";

const TYPES: readonly (readonly [suffix: string, type: string])[] = [
  [".json", "application/json; charset=utf-8"],
  [".jsonl", "application/x-ndjson; charset=utf-8"],
  [".md", "text/markdown; charset=utf-8"],
  [".txt", "text/plain; charset=utf-8"],
];

const sizeOf = async (path: string): Promise<number | null> => {
  try {
    return (await stat(path)).size;
  } catch {
    return null;
  }
};

const unsatisfiable = (reply: FastifyReply, size: number): FastifyReply =>
  reply.code(416).header("content-range", `bytes */${size}`).send();

const binary = (description: string) => ({
  description,
  content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
});

/** The answers of a download, for its response schemas. */
export const DOWNLOAD = {
  200: binary("The file"),
  206: binary("The range that was asked for"),
  416: { description: "The range starts behind the file's end", type: "null" },
};

/** Sends a recorded file of `folder`, or the range that the request asks for. Null when it is not on the disk. */
export const sendFile = async (
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { folder, file }: { readonly folder: string; readonly file: AdapterFile },
): Promise<FastifyReply | null> => {
  const path = join(folder, file.name);
  const size = await sizeOf(path);
  if (size === null) return null;
  const etag = `"${file.sha256}"`;
  const ifRange = headers["if-range"];
  const range = ifRange === undefined || ifRange === etag ? parseRange(headers.range, size) : null;
  reply.headers({ "accept-ranges": "bytes", etag });
  if (range === "unsatisfiable") return unsatisfiable(reply, size);
  const { start, end } = range ?? { start: 0, end: size - 1 };
  reply
    .code(range ? 206 : 200)
    .headers(range ? { "content-range": `bytes ${start}-${end}/${size}` } : {})
    .header("content-length", end - start + 1)
    .type(TYPES.find(([suffix]) => file.name.endsWith(suffix))?.[1] ?? "application/octet-stream");
  return reply.send(size === 0 ? Buffer.alloc(0) : createReadStream(path, { start, end }));
};
