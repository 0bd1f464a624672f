import { ImportResult, OneOf, Outcome, SESSION_FORMATS, Strict } from "@imprint/contracts";
import { Type } from "typebox";
import { ProblemError } from "../../problem.js";
import type { App, Services } from "../../services.js";
import { indexChanges } from "../../sessions/index-table.js";
import type { SavedFile } from "../../sessions/save.js";
import type { StoreRequest } from "../../sessions/store-file.js";
import { answer, problems } from "../schemas.js";

const CONTENT_TYPES = ["application/json", "application/x-ndjson", "text/markdown", "application/zstd"] as const;
const UploadQuery = Strict({
  format: Type.Optional(OneOf(["auto", ...SESSION_FORMATS])),
  outcome: Type.Optional(Outcome),
});

const anything = Object.fromEntries(
  CONTENT_TYPES.map((type) => [type, { schema: { description: "The file as the agent wrote it" } }]),
);

/** `POST /sessions`. The body is the file itself, so this call alone reads other content types, as bytes. */
export const uploadRoute = (app: App, { workshop }: Pick<Services, "workshop">): void => {
  const { paths, fileStore, sessionLimit: limit, now } = workshop;
  const store = async (request: Pick<StoreRequest, "bytes" | "format" | "outcome">): Promise<SavedFile> => {
    try {
      return await fileStore.store({ ...request, folder: paths.sessions, limit, at: now().toISOString() });
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "SESSION_UNREADABLE")
        throw new ProblemError("SESSION_UNREADABLE", error.message);
      throw error;
    }
  };

  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      [...CONTENT_TYPES],
      { parseAs: "buffer", bodyLimit: workshop.sessionLimit },
      (_request, body, done) => done(null, body),
    );
    scope.post(
      "/sessions",
      {
        bodyLimit: workshop.sessionLimit,
        schema: {
          tags: ["sessions"],
          summary: "Store a recorded session",
          querystring: UploadQuery,
          body: { content: anything },
          response: {
            200: answer("The same bytes were stored before", ImportResult),
            201: answer("Stored", ImportResult),
            ...problems("BODY_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "SESSION_UNREADABLE", "VALIDATION_FAILED"),
          },
        },
      },
      async (request, reply) => {
        const bytes: unknown = request.body;
        if (!(bytes instanceof Uint8Array) || bytes.length === 0)
          throw new ProblemError("SESSION_UNREADABLE", "The body is empty.");
        const { format, outcome } = request.query;
        const { result, isNew, changes } = await store({ bytes, format: format === "auto" ? undefined : format, outcome });
        if (changes.length > 0) await indexChanges(await request.db(), changes);
        return reply.code(isNew ? 201 : 200).send(result);
      },
    );
  });
};
