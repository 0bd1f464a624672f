import { ImportResult, OneOf, Outcome, SESSION_FORMATS, type SessionFormat, Strict } from "@imprint/contracts";
import { Type } from "typebox";
import { ProblemError } from "../../problem.js";
import type { App, Services } from "../../services.js";
import type { Imported } from "../../sessions/importer.js";
import { saveSessions } from "../../sessions/save.js";
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
  const read = async (
    bytes: Uint8Array,
    options: { readonly format: SessionFormat | undefined; readonly outcome: Outcome | undefined },
  ): Promise<Imported> => {
    try {
      return await workshop.importer(bytes, options);
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
        const imported = await read(bytes, { format: format === "auto" ? undefined : format, outcome });
        const { result, isNew } = await saveSessions(imported, {
          db: await request.db(),
          folder: workshop.paths.sessions,
          importer: workshop.importer,
          limit: workshop.sessionLimit,
          now: workshop.now,
          outcome,
        });
        return reply.code(isNew ? 201 : 200).send(result);
      },
    );
  });
};
