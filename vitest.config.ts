import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const packages = fileURLToPath(new URL("packages/", import.meta.url));

/** Tests of functions of their arguments, and others that leave nothing behind in their process. */
const rooms = (name: string, folders: string) => `packages/${name}/test/{${folders}}/**/*.test.ts`;
const TOGETHER = [
  "packages/{sessions,contracts,client}/test/**/*.test.{ts,mjs}",
  rooms("cli", "flags,ids,output,watch"),
  rooms("server", "config,jobs,models"),
  rooms("web", "adapters,evaluation,plot,router,sessions,sweep,text,train,ui"),
];
const TESTS = ["packages/*/test/**/*.test.ts", "scripts/test/**/*.test.mjs", "bench/test/**/*.test.mjs"];

/** Short files of long tests: files begin by their size, and these would end alone, one core waiting. */
const LONG = /record-worker|ray\/conformance|default-model|llama-cpp\/llama-cpp|python-client|commands\/models/;
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter(({ moduleId }) => LONG.test(moduleId)), ...sorted.filter(({ moduleId }) => !LONG.test(moduleId))];
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
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      // A process reads the sources once for all of them.
      { extends: true, test: { name: "together", include: TOGETHER, isolate: false } },
      { extends: true, test: { name: "rest", include: TESTS, exclude: TOGETHER } },
    ],
  },
});
