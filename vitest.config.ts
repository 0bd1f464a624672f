import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const packages = fileURLToPath(new URL("packages/", import.meta.url));

const LIBRARIES = ["packages/{sessions,contracts,client}/test/**/*.test.{ts,mjs}"];
const TESTS = ["packages/*/test/**/*.test.ts", "scripts/test/**/*.test.mjs", "bench/test/**/*.test.mjs"];

export default defineConfig({
  // Tests read the sources, so that no stale build can pass.
  resolve: {
    alias: [
      { find: /^@imprint\/([a-z]+)$/, replacement: `${packages}$1/src/index.ts` },
      { find: /^@imprint\/([a-z]+)\/([a-z]+)$/, replacement: `${packages}$1/src/$2.ts` },
    ],
  },
  test: {
    testTimeout: 20_000,
    maxWorkers: 2,
    projects: [
      // Functions of their arguments: a process reads the sources once for all of them.
      { extends: true, test: { name: "libraries", include: LIBRARIES, isolate: false } },
      { extends: true, test: { name: "rest", include: TESTS, exclude: LIBRARIES } },
    ],
  },
});
