import type { FastifyInstance } from "fastify";
import { parseStrictJson } from "./strict-json.js";

/** JSON is the only body there is, but for two routes with parsers of their own: any other content type is answered 415 before it is read. */
export const addJsonBody = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body: Buffer, done) => {
    try {
      done(null, body.length === 0 ? undefined : parseStrictJson(body));
    } catch (error) {
      done(error as Error);
    }
  });
};
