import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ProblemError, quote } from "../common/error.js";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

interface Asset {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly type: string;
  readonly caching: string;
}

/** The built dashboard: `web/bundle` beside a folder above this file, which may itself be part of a program's bundle. */
const findDashboard = (from: string = dirname(fileURLToPath(import.meta.url))): string | null => {
  for (let folder = from; ; folder = dirname(folder)) {
    const built = join(folder, "web", "bundle");
    if (existsSync(join(built, "index.html"))) return built;
    if (dirname(folder) === folder) return null;
  }
};

const readAsset = async (path: string, caching: string): Promise<Asset> => {
  const bytes = await readFile(path);
  const etag = `"${createHash("sha256").update(bytes).digest("base64url")}"`;
  return { bytes, etag, type: TYPES[extname(path)] ?? "application/octet-stream", caching };
};

/** Every file by its URL path: a request's path is looked up here and never becomes a path on disk. */
const readDashboard = async (folder: string): Promise<ReadonlyMap<string, Asset>> => {
  const names = await readdir(join(folder, "assets"));
  // A hashed name changes with its content; the page that names them is asked for each time.
  const assets = names.map(async (name) => {
    const asset = await readAsset(join(folder, "assets", name), "public, max-age=31536000, immutable");
    return [`/assets/${name}`, asset] as const;
  });
  return new Map([["/", await readAsset(join(folder, "index.html"), "no-cache")], ...(await Promise.all(assets))]);
};

/** What anyone on an allowed host may load: code without data, that asks for the token when one is needed. */
export const isDashboardPath = (path: string): boolean => path === "/" || path.startsWith("/assets/");

/** The dashboard at `/`, read at the first visit. */
export const addDashboard = (app: FastifyInstance): void => {
  let reading: Promise<ReadonlyMap<string, Asset>> | null = null;
  const read = (): Promise<ReadonlyMap<string, Asset>> => {
    const folder = findDashboard();
    if (folder === null) throw new ProblemError("NOT_FOUND", "The dashboard is not built: npm run build makes it.");
    const files = readDashboard(folder);
    files.catch(() => {
      reading = null;
    });
    return files;
  };
  const serve = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    reading ??= read();
    const path = request.url.split("?", 1)[0] ?? "";
    const asset = (await reading).get(path);
    if (!asset) throw new ProblemError("NOT_FOUND", `There is nothing at ${quote(path)}.`);
    reply.headers({ etag: asset.etag, "cache-control": asset.caching });
    if (request.headers["if-none-match"] === asset.etag) return reply.code(304).send();
    return reply.type(asset.type).send(asset.bytes);
  };
  app.get("/", { schema: { hide: true } }, serve);
  app.get("/assets/:name", { schema: { hide: true } }, serve);
};
