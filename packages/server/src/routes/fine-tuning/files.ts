import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { FileDeleted, FileObject, FileQuery, listOf, Strict } from "@imprint/contracts";
import type { FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { fieldRefused, ProblemError, quote } from "../../common/error.js";
import type { App } from "../../http/app.js";
import { type Form, type FormFile, readForm } from "../../http/multipart.js";
import { answer, idParams } from "../../http/schemas.js";
import type { KindDeps } from "../../kinds/deps.js";
import { writeAtomically } from "../../storage/durable.js";
import type { Transaction } from "../../storage/schema.js";
import { pageOf, seconds } from "./objects.js";
import { deleteUpload, findUpload, insertUpload, listUploads, type Upload } from "./uploads.js";

interface Deps {
  readonly deps: KindDeps;
}

/** Bytes of an uploaded file whatever `session_limit` says: a form is held in memory. */
const FORM_LIMIT = 64 * 1024 * 1024;

const MAX_NAME = 255;

/** The form of `POST /v1/files`, as it is described and checked; the file itself is held as bytes. */
const UploadForm = Strict({
  purpose: Type.Literal("fine-tune"),
  file: Type.Unsafe<FormFile>({
    contentMediaType: "application/octet-stream",
    description: "Chat JSONL, one conversation a line",
  }),
});
type UploadForm = Static<typeof UploadForm>;

const isFile = (value: Form[string] | undefined): value is FormFile => typeof value === "object";

const checkFile = ({ file }: Form): void => {
  if (file !== undefined && !isFile(file)) throw fieldRefused("file", "must be a file with a filename");
  if (isFile(file) && (file.filename.length > MAX_NAME || /\p{Cc}/u.test(file.filename)))
    throw fieldRefused("file", `must have a filename of at most ${MAX_NAME} characters, without control characters`);
};

/** Reads the form; which fields it has to have is checked as in any body. Throws ProblemError. */
const readUpload = async (
  body: IncomingMessage,
  { request, limit }: { readonly request: FastifyRequest; readonly limit: number },
): Promise<Form> => {
  const form = await readForm(body, { headers: request.headers, limit });
  checkFile(form);
  return form;
};

const toObject = ({ file_id, filename, bytes, created_at }: Upload) =>
  ({
    id: file_id,
    object: "file",
    bytes,
    created_at: seconds(created_at),
    filename,
    purpose: "fine-tune",
    status: "processed",
  }) as const;

export const requireUpload = async (db: Transaction, fileId: string): Promise<Upload> => {
  const upload = await findUpload(db, fileId);
  if (!upload) throw new ProblemError("FILE_NOT_FOUND", `There is no file ${quote(fileId)}.`);
  return upload;
};

const params = idParams("file_id");
const tags = ["fine-tuning"];

/** `/v1/files`: the chat JSONL files of OpenAI's fine-tuning. */
export const filesRoutes = (app: App, { deps }: Deps): void => {
  const { paths, sessions, now } = deps;

  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("multipart/form-data", (request: FastifyRequest, body: IncomingMessage) =>
      readUpload(body, { request, limit: Math.min(sessions.limit, FORM_LIMIT) }),
    );
    scope.post(
      "/v1/files",
      {
        schema: {
          tags,
          summary: "Upload a chat JSONL file",
          body: { content: { "multipart/form-data": { schema: UploadForm } } },
          response: { 200: answer("The file", FileObject) },
        },
      },
      async (request) => {
        if (!request.body) throw new ProblemError("UNSUPPORTED_MEDIA_TYPE", "Send the file as multipart/form-data.");
        const { file } = request.body as UploadForm;
        const upload = {
          file_id: `file-${randomUUID().replaceAll("-", "")}`,
          filename: file.filename,
          bytes: file.bytes.length,
          created_at: now().toISOString(),
        };
        await writeAtomically(join(paths.uploads, upload.file_id), file.bytes);
        await request.transact((db) => insertUpload(db, upload));
        return toObject(upload);
      },
    );
  });

  app.get(
    "/v1/files",
    {
      schema: {
        tags,
        summary: "Uploaded files",
        querystring: FileQuery,
        response: { 200: answer("A page", listOf(FileObject)) },
      },
    },
    async (request) => {
      const { after, limit = 10_000, order = "desc" } = request.query;
      const db = await request.db();
      if (after !== undefined) await requireUpload(db, after);
      return pageOf((await listUploads(db, { order, limit: limit + 1, after })).map(toObject), limit);
    },
  );

  app.get(
    "/v1/files/:file_id",
    { schema: { tags, summary: "An uploaded file", params, response: { 200: answer("The file", FileObject) } } },
    async (request) => toObject(await requireUpload(await request.db(), request.params.file_id)),
  );

  app.get(
    "/v1/files/:file_id/content",
    {
      schema: {
        tags,
        summary: "What was uploaded",
        params,
        response: {
          200: {
            description: "The bytes",
            content: { "application/octet-stream": { schema: Type.Unsafe<unknown>({ type: "string", format: "binary" }) } },
          },
        },
      },
    },
    async (request, reply) => {
      const { file_id, bytes } = await requireUpload(await request.db(), request.params.file_id);
      reply.header("content-length", bytes).header("content-disposition", "attachment").type("application/octet-stream");
      return reply.send(bytes === 0 ? Buffer.alloc(0) : createReadStream(join(paths.uploads, file_id)));
    },
  );

  app.delete(
    "/v1/files/:file_id",
    { schema: { tags, summary: "Delete an uploaded file", params, response: { 200: answer("It is gone", FileDeleted) } } },
    async (request) => {
      const file_id = await request.transact(async (db) => {
        const upload = await requireUpload(db, request.params.file_id);
        await deleteUpload(db, upload.file_id);
        return upload.file_id;
      });
      await rm(join(paths.uploads, file_id), { force: true });
      return { id: file_id, object: "file", deleted: true } as const;
    },
  );
};
