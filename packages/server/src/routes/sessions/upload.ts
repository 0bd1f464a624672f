import { createWriteStream } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setImmediate as turn } from "node:timers/promises";
import { ImportResult, OneOf, Outcome, SESSION_FORMATS, Strict, withSignals } from "@imprint/contracts";
import { Type } from "typebox";
import { codeOf, ProblemError } from "../../common/error.js";
import type { App } from "../../http/app.js";
import { answer, problems } from "../../http/schemas.js";
import type { KindDeps } from "../../kinds/deps.js";
import { IMPORT_SECONDS } from "../../sessions/save.js";

interface Deps {
  readonly deps: KindDeps;
  readonly closing: AbortSignal;
}

const CONTENT_TYPES = ["application/json", "application/x-ndjson", "text/markdown", "application/zstd"] as const;
const UploadQuery = Strict({
  format: Type.Optional(OneOf(["auto", ...SESSION_FORMATS])),
  outcome: Type.Optional(Outcome),
  folder: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1024, description: "Where it was recorded, if the file does not say so" }),
  ),
});

const anything = Object.fromEntries(
  CONTENT_TYPES.map((type) => [type, { schema: { description: "The file as the agent wrote it" } }]),
);

/** How long an import may wait for others, and store what it has read, besides the time to read it. */
const WAIT_MS = 600_000;

const tooLarge = (limit: number): ProblemError =>
  new ProblemError(
    "BODY_TOO_LARGE",
    `The session is larger than the service's session_limit of ${limit} bytes: start the service with a higher one, or split the file.`,
  );

/**
 * Writes a request's body to `file`, piece by piece, and answers its size. A body that is too large is left to Node, which
 * reads and forgets the rest: a client that still sends would not hear of the refusal.
 * @throws ProblemError BODY_TOO_LARGE, the reason of `cancelled`, or the file system's error
 */
const receive = async (
  body: Readable,
  { file, limit, cancelled }: { readonly file: string; readonly limit: number; readonly cancelled: AbortSignal },
): Promise<number> => {
  let size = 0;
  const pieces = async function* (): AsyncGenerator<Buffer> {
    for await (const piece of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > limit) throw tooLarge(limit);
      yield piece;
    }
  };
  try {
    await pipeline(pieces, createWriteStream(file, { flags: "wx", mode: 0o600 }));
    return size;
  } catch (error) {
    cancelled.throwIfAborted();
    body.resume();
    throw error;
  }
};

/** Sessions of an answer that are written in one turn of the event loop. */
const PIECE = 250;

/** What `JSON.stringify` makes of a result, in pieces: that of ten thousand sessions would hold up all other requests. */
async function* jsonOf({ sessions, ...result }: ImportResult): AsyncGenerator<string> {
  yield `${JSON.stringify(result).slice(0, -1)},"sessions":[`;
  for (let from = 0; from < sessions.length; from += PIECE) {
    yield `${from === 0 ? "" : ","}${JSON.stringify(sessions.slice(from, from + PIECE)).slice(1, -1)}`;
    await turn();
  }
  yield "]}";
}

const refuseUnreadable = (error: unknown): never => {
  if (error instanceof Error && codeOf(error) === "SESSION_UNREADABLE")
    throw new ProblemError("SESSION_UNREADABLE", error.message);
  throw error;
};

/** `POST /sessions`. The body is the file itself, so this call alone reads other content types, as they come. */
export const uploadRoute = (app: App, { deps, closing }: Deps): void => {
  const { sessions } = deps;
  const { limit } = sessions;

  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser([...CONTENT_TYPES], async (_request: unknown, body: IncomingMessage) => body);
    scope.post(
      "/sessions",
      {
        config: { timeoutMs: IMPORT_SECONDS * 1000 + WAIT_MS },
        schema: {
          tags: ["sessions"],
          summary: "Store a recorded session",
          querystring: UploadQuery,
          body: { content: anything },
          response: {
            200: answer("The same bytes were stored before", ImportResult),
            201: answer("Stored", ImportResult),
            ...problems("SESSION_UNREADABLE", "SESSION_INVALID"),
          },
        },
      },
      async (request, reply) => {
        if (!request.body)
          throw new ProblemError(
            "UNSUPPORTED_MEDIA_TYPE",
            `Send the recording with a Content-Type: ${CONTENT_TYPES.join(", ")}.`,
          );
        if (Number(request.headers["content-length"]) > limit) throw tooLarge(limit);
        const { format, ...known } = request.query;
        const receiveBody = async (folder: string): Promise<string> => {
          const file = join(folder, "recording");
          if ((await receive(request.body as IncomingMessage, { file, limit, cancelled: request.cancelled })) === 0)
            throw new ProblemError("SESSION_UNREADABLE", "The body is empty.");
          return file;
        };
        const how = { format: format === "auto" ? undefined : format, ...known };
        const { result, isNew } = await withSignals([request.cancelled, closing], (signal) =>
          sessions.import(receiveBody, { ...how, signal }),
        ).catch(refuseUnreadable);
        return reply
          .code(isNew ? 201 : 200)
          .type("application/json; charset=utf-8")
          .send(Readable.from(jsonOf(result)));
      },
    );
  });
};
