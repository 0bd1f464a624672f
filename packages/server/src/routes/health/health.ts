import { Strict } from "@imprint/contracts";
import { Type } from "typebox";
import type { App } from "../../services.js";
import { answer } from "../schemas.js";

const Health = Strict({ status: Type.Literal("healthy"), service: Type.Literal("imprint") });

export const healthRoute = (app: App): void => {
  app.get(
    "/health",
    { schema: { tags: ["service"], summary: "Whether the process runs", response: { 200: answer("It runs", Health) } } },
    async () => ({ status: "healthy", service: "imprint" }) as const,
  );
};
