import { defineConfig } from "vitest/config";
import config from "./vitest.config.js";

const { resolve } = config;

/** `npm run check-ray` and `npm run soak`: against what is really there. */
export default defineConfig({ ...(resolve && { resolve }), test: { include: ["packages/server/test/**/*.check.ts"] } });
