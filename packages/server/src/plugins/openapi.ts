import swagger from "@fastify/swagger";
import { Problem } from "@imprint/contracts";
import type { FastifyInstance } from "fastify";

/** Groups of calls, as the page shows them. */
export const TAGS = ["train", "jobs", "sessions", "adapters", "chat", "service"] as const;

/** Collects every route registered afterwards into an OpenAPI 3.1 document. Hidden: what is not part of the API. */
export const addOpenApi = async (app: FastifyInstance, { version }: { readonly version: string }): Promise<void> => {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Imprint", version, description: "Turns recorded coding sessions into LoRA adapters." },
      tags: TAGS.map((name) => ({ name })),
      components: { schemas: { Problem: JSON.parse(JSON.stringify(Problem)) } },
    },
  });
  app.get("/openapi.json", { schema: { tags: ["service"], summary: "This document" } }, async () => app.swagger());
};
