import { mergeConfig } from "vitest/config";
import config from "./vitest.config.js";

/** `npm run check-ray`: one file, against a real head. */
export default mergeConfig(
  { ...config, test: { ...config.test, include: [] } },
  { test: { include: ["packages/server/test/runners/ray/real-head.check.ts"] } },
);
