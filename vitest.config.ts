import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const packages = fileURLToPath(new URL("packages/", import.meta.url));

export default defineConfig({
  // Tests read the sources, so that no stale build can pass.
  resolve: {
    alias: [
      { find: /^@imprint\/([a-z]+)$/, replacement: `${packages}$1/src/index.ts` },
      { find: /^@imprint\/([a-z]+)\/([a-z]+)$/, replacement: `${packages}$1/src/$2.ts` },
    ],
  },
  test: {
    include: ["packages/*/test/**/*.test.ts", "scripts/test/**/*.test.mjs", "bench/test/**/*.test.mjs"],
    testTimeout: 20_000,
    maxWorkers: 2,
  },
});
