import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const packages = fileURLToPath(new URL("packages/", import.meta.url));

const TESTS = ["packages/*/test/**/*.test.{ts,mjs}", "scripts/test/**/*.test.mjs", "bench/test/**/*.test.mjs"];
const LARGE = ["large-import", "import-bounds", "large-training-file"];
/** They replace modules, or measure their process: one that ran hundreds of files takes four times as long for an expression. */
const ALONE = ["machine", "killed", "durable", "event-loop", "simulate/*", "power-cut", "find-secrets", ...LARGE].map(
  (name) => `**/test/**/${name}.test.{ts,mjs}`,
);

/** Short files of long tests: files begin by their size, and these would end alone, one core waiting. */
const LONG = /record-worker|ray\/conformance|default-model|llama-cpp\/llama-cpp|python-client|commands\/models/;
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    // A file of another project ends the process that the next files would share.
    const alone = sorted.filter(({ project }) => project.name === "alone");
    const together = sorted.filter(({ project }) => project.name !== "alone");
    const long = together.filter(({ moduleId }) => LONG.test(moduleId));
    return [...alone, ...long, ...together.filter(({ moduleId }) => !LONG.test(moduleId))];
  }
}

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
    setupFiles: ["scripts/test/support/patience.mjs", "scripts/test/support/draws.mjs"],
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      // A process reads the sources once for all of them.
      { extends: true, test: { name: "together", include: TESTS, exclude: ALONE, isolate: false } },
      { extends: true, test: { name: "alone", include: ALONE } },
    ],
  },
});
