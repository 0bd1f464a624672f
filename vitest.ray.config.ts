import { defineConfig } from "vitest/config";
import config from "./vitest.config.js";

const { resolve } = config;

/** `npm run check-ray`: one file, against a real head. */
export default defineConfig({
  ...(resolve && { resolve }),
  test: { include: ["packages/server/test/runners/ray/real-head.check.ts"] },
});
