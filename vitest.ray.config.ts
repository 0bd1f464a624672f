import { defineConfig } from "vitest/config";
import config from "./vitest.config.js";

const { resolve } = config;

/** `npm run check-ray`: the file `real-head`, against one. `callbacks-latency` measures, without. */
export default defineConfig({
  ...(resolve && { resolve }),
  test: { include: ["packages/server/test/runners/ray/*.check.ts"] },
});
