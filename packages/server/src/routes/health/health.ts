import { Health } from "@imprint/contracts";
import type { App } from "../../http/app.js";
import { answer } from "../../http/schemas.js";

export const healthRoute = (app: App): void => {
  app.get(
    "/health",
    { schema: { tags: ["service"], summary: "Whether the process runs", response: { 200: answer("It runs", Health) } } },
    async () => ({ status: "healthy", service: "imprint" }) as const,
  );
};
