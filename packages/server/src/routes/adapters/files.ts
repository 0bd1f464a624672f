import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyReply } from "fastify";
import { Type } from "typebox";
import { ProblemError, quote } from "../../problem.js";
import type { App, Services } from "../../services.js";
import { problems } from "../schemas.js";
import { requireAdapter } from "./adapters.js";
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

/** `GET /adapters/{id}/files/{name}`: only names that the registry recorded exist, so a name never becomes a path of its own. */
export const adapterFilesRoute = (app: App, { workshop }: Pick<Services, "workshop">): void => {
  app.get(
    "/adapters/:adapter_id/files/:name",
    {
      schema: {
        tags: ["adapters"],
        summary: "Download a file of an adapter",
        params: Type.Object({ adapter_id: Type.String(), name: Type.String() }),
        response: {
          200: binary("The file"),
          206: binary("The range that was asked for"),
          416: { description: "The range starts behind the file's end", type: "null" },
          ...problems("ADAPTER_NOT_FOUND"),
        },
      },
    },
    async (request, reply) => {
      const adapter = await requireAdapter(workshop.database, request.params.adapter_id);
      const file = adapter.files.find(({ name }) => name === request.params.name);
      const path = file && join(workshop.paths.root, adapter.path, file.name);
      const size = path === undefined ? null : await sizeOf(path);
      if (!file || path === undefined || size === null)
        throw new ProblemError("NOT_FOUND", `The adapter ${adapter.adapter_id} has no file ${quote(request.params.name)}.`);

      const etag = `"${file.sha256}"`;
      const ifRange = request.headers["if-range"];
      const range = ifRange === undefined || ifRange === etag ? parseRange(request.headers.range, size) : null;
      reply.headers({ "accept-ranges": "bytes", etag });
      if (range === "unsatisfiable") return unsatisfiable(reply, size);
      const { start, end } = range ?? { start: 0, end: size - 1 };
      reply
        .code(range ? 206 : 200)
        .headers(range ? { "content-range": `bytes ${start}-${end}/${size}` } : {})
        .header("content-length", end - start + 1)
        .type(TYPES.find(([suffix]) => file.name.endsWith(suffix))?.[1] ?? "application/octet-stream");
      return reply.send(size === 0 ? Buffer.alloc(0) : createReadStream(path, { start, end }));
    },
  );
};
