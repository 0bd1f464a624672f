import { defineConfig } from "vitest/config";
import config from "./vitest.config.js";

const { resolve } = config;

/** `npm run check-ray`: the files `real-head` and `nodes`, one after the other, against a real head. `callbacks-latency` measures, without. */
export default defineConfig({
  ...(resolve && { resolve }),
  test: { include: ["packages/server/test/runners/ray/*.check.ts"], fileParallelism: false },
});
