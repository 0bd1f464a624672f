import type { IncomingMessage } from "node:http";
import { Strict } from "@imprint/contracts";
import type { FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { fieldRefused } from "../../common/problem.js";
import { type Form, type FormFile, readForm } from "../../http/multipart.js";

const MAX_NAME = 255;

/** The form of `POST /v1/files`, as it is described and checked; the file itself is held as bytes. */
export const UploadForm = Strict({
  purpose: Type.Literal("fine-tune"),
  file: Type.Unsafe<FormFile>({
    contentMediaType: "application/octet-stream",
    description: "Chat JSONL, one conversation a line",
  }),
});
export type UploadForm = Static<typeof UploadForm>;

const isFile = (value: Form[string] | undefined): value is FormFile => typeof value === "object";

const checkFile = ({ file }: Form): void => {
  if (file !== undefined && !isFile(file)) throw fieldRefused("file", "must be a file with a filename");
  if (isFile(file) && (file.filename.length > MAX_NAME || /\p{Cc}/u.test(file.filename)))
    throw fieldRefused("file", `must have a filename of at most ${MAX_NAME} characters, without control characters`);
};

/** Reads the form; which fields it has to have is checked as in any body. Throws ProblemError. */
export const readUpload = async (
  body: IncomingMessage,
  { request, limit }: { readonly request: FastifyRequest; readonly limit: number },
): Promise<Form> => {
  const form = await readForm(body, { headers: request.headers, limit });
  checkFile(form);
  return form;
};
