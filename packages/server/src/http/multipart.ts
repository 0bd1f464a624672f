import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { BusboyInstance } from "@fastify/busboy";
import { ProblemError, quote } from "../common/error.js";

export interface FormFile {
  readonly filename: string;
  readonly bytes: Buffer;
}

/** A form of one file and a few short fields, each name once. */
export type Form = Readonly<Record<string, string | FormFile>>;

const FIELDS = 16;
const FIELD_BYTES = 1024;
/** What may stand around the file: fields, headers, boundaries. */
const REST_BYTES = 64 * 1024;

const malformed = (what: string): ProblemError => new ProblemError("BAD_REQUEST", `The form ${what}.`);
const tooLarge = (limit: number): ProblemError =>
  new ProblemError("BODY_TOO_LARGE", `The file is larger than ${limit} bytes, which is the limit.`);

const parserFor = async (headers: IncomingHttpHeaders, fileSize: number): Promise<BusboyInstance> => {
  const { Busboy } = await import("@fastify/busboy");
  const limits = { fieldNameSize: 100, fieldSize: FIELD_BYTES, fields: FIELDS, files: 1, fileSize, headerPairs: 16 };
  try {
    return new Busboy({ headers: { ...headers, "content-type": headers["content-type"] ?? "" }, limits });
  } catch {
    throw malformed("has no boundary in its Content-Type");
  }
};

/**
 * Reads a multipart form to its end and holds it in memory, `limit` bytes of file at most.
 * @throws ProblemError BAD_REQUEST or BODY_TOO_LARGE
 */
export const readForm = async (
  body: Readable,
  { headers, limit }: { readonly headers: IncomingHttpHeaders; readonly limit: number },
): Promise<Form> => {
  const parser = await parserFor(headers, limit);
  return new Promise((resolve, reject) => {
    const found = new Map<string, () => string | FormFile>();
    let received = 0;

    const fail = (error: ProblemError): void => {
      body.unpipe(parser).resume();
      reject(error);
    };
    const add = (name: string | undefined, value: () => string | FormFile): void => {
      if (!name) fail(malformed("holds a field without a name"));
      else if (found.has(name)) fail(malformed(`has the field ${quote(name)} twice`));
      else found.set(name, value);
    };

    parser.on("field", (name, value, nameIsCut, valueIsCut) => {
      if (nameIsCut || valueIsCut) fail(malformed(`has a field longer than ${FIELD_BYTES} bytes`));
      else add(name, () => value);
    });
    parser.on("file", (name, stream, filename) => {
      const chunks: Buffer[] = [];
      add(name, () => ({ filename: filename || "upload", bytes: Buffer.concat(chunks) }));
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.once("limit", () => fail(tooLarge(limit)));
      stream.once("error", () => fail(malformed("ends in the middle")));
    });
    parser.once("filesLimit", () => fail(malformed("holds more than one file")));
    parser.once("fieldsLimit", () => fail(malformed(`has more than ${FIELDS} fields`)));
    parser.once("error", () => fail(malformed("is not whole")));
    parser.once("finish", () => resolve(Object.fromEntries([...found].map(([name, value]) => [name, value()]))));
    body.once("error", () => fail(malformed("did not arrive whole")));
    body.on("data", (chunk: Buffer) => {
      received += chunk.length;
      if (received > limit + REST_BYTES) fail(tooLarge(limit));
    });
    body.pipe(parser);
  });
};
