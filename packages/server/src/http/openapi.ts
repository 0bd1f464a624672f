import { Problem } from "@imprint/contracts";
import Fastify, { type FastifyInstance, type RouteOptions } from "fastify";
import { compilers } from "./schemas.js";

/** Groups of calls, as the page shows them. */
export const TAGS = ["train", "jobs", "sessions", "adapters", "projects", "chat", "fine-tuning", "service"] as const;

type Described = Pick<RouteOptions, "method" | "url" | "schema">;

/** The OpenAPI 3.1 document of the routes, by a second Fastify that only describes them: most services are never asked for it. */
const describe = async (routes: readonly Described[], version: string): Promise<object> => {
  const { default: swagger } = await import("@fastify/swagger");
  const app = Fastify({ exposeHeadRoutes: false, schemaController: { compilersFactory: compilers } });
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Imprint", version, description: "Turns recorded coding sessions into LoRA adapters." },
      tags: TAGS.map((name) => ({ name })),
      components: { schemas: { Problem: JSON.parse(JSON.stringify(Problem)) } },
    },
  });
  for (const route of routes) app.route({ ...route, handler: () => undefined });
  await app.ready();
  return app.swagger();
};

/** Describes every route registered afterwards. Hidden: what is not part of the API. */
export const addOpenApi = (app: FastifyInstance, { version }: { readonly version: string }): void => {
  const routes: Described[] = [];
  app.addHook("onRoute", ({ method, url, schema }) => {
    if (method !== "HEAD") routes.push({ method, url, ...(schema && { schema }) });
  });
  let document: Promise<object> | null = null;
  app.get("/openapi.json", { schema: { tags: ["service"], summary: "This document" } }, () => {
    document ??= describe(routes, version);
    return document;
  });
};
