import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { FastifyInstance } from "fastify";
import { ProblemError, quote } from "../common/error.js";

/** The page's files, served from the package that ships them: nothing comes from another host. */
const ASSETS: Readonly<Record<string, string>> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
};

/** Relative, as a proxy may serve it under a path. */
const PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Imprint API</title><link rel="icon" href="data:,"><link rel="stylesheet" href="docs/swagger-ui.css"></head>
<body><div id="ui"></div><script src="docs/swagger-ui-bundle.js"></script><script src="docs/start.js"></script></body>
</html>
`;
const START = 'SwaggerUIBundle({ url: "openapi.json", dom_id: "#ui", deepLinking: true, validatorUrl: null });\n';

/** Swagger UI sets style attributes and draws its icons from data: URLs; scripts stay our own. */
const PAGE_POLICY =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

/** The page under /docs. Its files are found and read at the first visit, so that the start does not wait for them. */
export const addDocsPage = (app: FastifyInstance): void => {
  app.get("/docs", { schema: { hide: true } }, async (_request, reply) =>
    reply.type("text/html; charset=utf-8").header("content-security-policy", PAGE_POLICY).send(PAGE),
  );
  app.get("/docs/", { schema: { hide: true } }, async (_request, reply) => reply.redirect("../docs", 308));
  app.get("/docs/start.js", { schema: { hide: true } }, async (_request, reply) =>
    reply.type("text/javascript; charset=utf-8").send(START),
  );
  app.get<{ Params: { name: string } }>("/docs/:name", { schema: { hide: true } }, async ({ params: { name } }, reply) => {
    const type = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
    if (type === undefined) throw new ProblemError("NOT_FOUND", `There is nothing at ${quote(`/docs/${name}`)}.`);
    const folder = join(dirname(createRequire(import.meta.url).resolve("@fastify/swagger-ui/package.json")), "static");
    return reply.type(type).send(await readFile(join(folder, name)));
  });
};
