import { Problem } from "@imprint/contracts";
import Fastify, { type FastifyInstance, type RouteOptions } from "fastify";
import { Type } from "typebox";
import { CLIENTS_PATH, Refusal } from "./errors.js";
import { answer, compilers, problems } from "./schemas.js";

/** Groups of calls, as the page shows them. */
const TAGS = ["train", "jobs", "sessions", "adapters", "projects", "chat", "fine-tuning", "service"] as const;

type Described = Pick<RouteOptions, "method" | "url" | "schema">;

type Responses = Readonly<Record<string, { readonly description: string }>>;

/** What any such call is refused with before its handler sees it. */
const refusalsOf = ({ url, schema }: Described): Responses => {
  if (CLIENTS_PATH.test(url)) return { default: answer("Refused", Refusal) };
  if (schema?.body) return problems("MALFORMED_JSON", "BODY_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "VALIDATION_FAILED");
  return schema?.querystring ? problems("VALIDATION_FAILED") : {};
};

/** The answers that a route names, and its refusals. */
const responsesOf = (route: Described): Responses => {
  const named = (route.schema?.response ?? {}) as Responses;
  const refusals = Object.entries(refusalsOf(route)).map(([status, refusal]) => {
    const others = named[status];
    return [status, others ? { ...others, description: `${others.description}; ${refusal.description}` } : refusal];
  });
  return { ...named, ...Object.fromEntries(refusals) };
};

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
  for (const route of routes)
    app.route({ ...route, schema: { ...route.schema, response: responsesOf(route) }, handler: () => undefined });
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
  const schema = { tags: ["service"], summary: "This document", response: { 200: answer("OpenAPI 3.1", Type.Object({})) } };
  app.get("/openapi.json", { schema }, () => {
    document ??= describe(routes, version);
    return document;
  });
};
