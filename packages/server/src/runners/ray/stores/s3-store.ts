import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { relative, sep } from "node:path";
import type { Readable } from "node:stream";
import type { S3Client } from "@aws-sdk/client-s3";
import { filesOf, type Store, type Tail } from "./store.js";

export interface S3Options {
  /** Such as s3://bucket/prefix */
  readonly url: string;
  /** Under which path a node keeps its copies. */
  readonly onNodes: string;
  /** The program that a node starts with: imprint_node/fetch.py. */
  readonly fetchProgram: string;
  /** Of this process: where the client finds endpoint, region and credentials, by itself. */
  readonly env: NodeJS.ProcessEnv;
}

const CONNECT_MS = 5_000;
const IDLE_MS = 30_000;
const AT_ONCE = 8; // files that are sent at the same time
const MAX_SMALL_BYTES = 64 * 1024 * 1024;

const splitUrl = (url: string): { readonly bucket: string; readonly prefix: string } => {
  const { hostname: bucket, pathname } = new URL(url);
  const path = decodeURIComponent(pathname).replace(/^\/+|\/+$/g, "");
  return { bucket, prefix: path === "" ? "" : `${path}/` };
};

/** Of a server that speaks S3; undefined for Amazon's own. */
const endpointIn = (env: NodeJS.ProcessEnv): string | undefined => env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || undefined;

/** Loaded where it is used: the client is a thousand modules. It finds credentials as all of Amazon's do. */
const load = async (env: NodeJS.ProcessEnv) => {
  const { S3Client, ...commands } = await import("@aws-sdk/client-s3");
  const { Upload } = await import("@aws-sdk/lib-storage");
  const endpoint = endpointIn(env);
  const region = env.AWS_REGION ?? env.AWS_DEFAULT_REGION ?? "us-east-1"; // part of each signature; servers of others know none
  const client: S3Client = new S3Client({
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true, region }),
    requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: IDLE_MS },
    // Servers that are not Amazon's refuse the trailers that newer clients send by themselves.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  return { client, Upload, ...commands };
};

const isMissing = (error: unknown): boolean => error instanceof Error && ["NoSuchKey", "NotFound"].includes(error.name);

/** A bucket of an object store that speaks S3. Nodes fetch what they need, and send what they make (imprint_node). */
export const createS3Store = ({ url, onNodes, fetchProgram, env }: S3Options): Store => {
  const { bucket: Bucket, prefix } = splitUrl(url);
  const endpoint = endpointIn(env);
  let loading: ReturnType<typeof load> | null = null;
  const s3 = (): ReturnType<typeof load> => {
    loading ??= load(env);
    return loading;
  };
  const at = (name: string) => ({ Bucket, Key: `${prefix}${name}` });

  const get = async (name: string): Promise<Readable | null> => {
    const { client, GetObjectCommand } = await s3();
    try {
      const { Body } = await client.send(new GetObjectCommand(at(name)));
      return (Body as Readable | undefined) ?? null;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  };

  const bytesOf = async (name: string): Promise<Buffer | null> => {
    const body = await get(name);
    if (body === null) return null;
    const parts: Buffer[] = [];
    let length = 0;
    for await (const part of body as AsyncIterable<Buffer>) {
      parts.push(part);
      length += part.length;
      if (length > MAX_SMALL_BYTES) throw new Error(`${name} on the object store is too long.`);
    }
    return Buffer.concat(parts);
  };

  const put = async (name: string, content: string): Promise<void> => {
    const { client, PutObjectCommand } = await s3();
    await client.send(new PutObjectCommand({ ...at(name), Body: content }));
  };

  const putFile = async (from: string, name: string): Promise<void> => {
    const { client, Upload } = await s3();
    await new Upload({ client, params: { ...at(name), Body: createReadStream(from) } }).done();
  };

  const putFiles = async (from: string, name: string): Promise<void> => {
    const files = [...(await filesOf(from))];
    const next = async (): Promise<void> => {
      for (let file = files.shift(); file !== undefined; file = files.shift())
        await putFile(file, `${name}/${relative(from, file).replaceAll(sep, "/")}`);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, next));
  };

  const pages = async function* (folder: string, Delimiter?: string) {
    const { client, paginateListObjectsV2 } = await s3();
    yield* paginateListObjectsV2({ client }, { Bucket, Prefix: `${prefix}${folder}/`, Delimiter });
  };

  /** Says of a folder that many jobs read that all of it is there; written last. */
  const wholeMark = (name: string): string => `${name}.json`;

  return {
    onNodes,
    carried: {
      IMPRINT_STORE: `s3://${Bucket}/${prefix}`.replace(/\/$/, ""),
      ...(endpoint !== undefined && { IMPRINT_STORE_ENDPOINT: endpoint }),
      IMPRINT_COPY: onNodes,
      IMPRINT_FETCH: fetchProgram,
    },
    makeFolder: async () => {},
    put,
    hint: put,
    async putTree(from, name) {
      if (!existsSync(from)) return;
      await ((await stat(from)).isDirectory() ? putFiles(from, name) : putFile(from, name));
    },
    async putOnce(from, name) {
      if ((await bytesOf(wholeMark(name))) !== null) return;
      await putFiles(from, name);
      await put(wholeMark(name), "{}");
    },
    read: async (name) => (await bytesOf(name))?.toString("utf8") ?? null,
    open: get,
    tail: (name, onData) => createSegmentTail(bytesOf, name, onData),
    async list(name) {
      const found: string[] = [];
      const start = `${prefix}${name}/`.length;
      for await (const { Contents = [], CommonPrefixes = [] } of pages(name, "/"))
        for (const key of [...Contents.map(({ Key = "" }) => Key), ...CommonPrefixes.map(({ Prefix = "" }) => Prefix)])
          found.push(key.slice(start).replace(/\/$/, ""));
      return found;
    },
    async modified(name) {
      const { client, HeadObjectCommand } = await s3();
      try {
        return (await client.send(new HeadObjectCommand(at(name)))).LastModified?.getTime() ?? null;
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },
    async remove(name) {
      const { client, DeleteObjectsCommand } = await s3();
      for await (const { Contents = [] } of pages(name)) {
        const Objects = Contents.map(({ Key }) => ({ Key }));
        if (Objects.length > 0) await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }));
      }
    },
  };
};
const DIGITS = 6;

export const segmentName = (name: string, at: number): string => `${name}/${String(at).padStart(DIGITS, "0")}`;

/**
 * A file that grows on a store whose objects do not: numbered parts, each written once and whole, in their order
 * (imprint_node/segments.py).
 */
export const createSegmentTail = (
  readPart: (name: string) => Promise<Buffer | null>,
  name: string,
  onData: (chunk: Buffer) => void,
): Tail => {
  const hash = createHash("sha256");
  let bytes = 0;
  let next = 0;
  return {
    async read(upTo = Number.MAX_SAFE_INTEGER) {
      const from = bytes;
      while (bytes < upTo) {
        const part = await readPart(segmentName(name, next));
        if (part === null) break;
        next += 1;
        bytes += part.length;
        hash.update(part);
        onData(part);
      }
      return bytes > from;
    },
    bytes: () => bytes,
    sha256: () => hash.copy().digest("hex"),
    begun: () => next > 0,
  };
};
