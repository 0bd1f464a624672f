import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const packages = ["contracts", "sessions", "client", "server", "cli"];

export default defineConfig({
  // Tests read the sources, so that no stale build can pass.
  resolve: {
    alias: Object.fromEntries(
      packages.map((name) => [`@imprint/${name}`, fileURLToPath(new URL(`packages/${name}/src/index.ts`, import.meta.url))]),
    ),
  },
  test: {
    include: ["packages/*/test/**/*.test.ts", "scripts/test/**/*.test.mjs"],
    testTimeout: 20_000,
    maxWorkers: 2,
  },
});
