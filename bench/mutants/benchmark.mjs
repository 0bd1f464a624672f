import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { copyOf } from "../../scripts/lib/guarantees/main.mjs";
import { listedFiles } from "../../scripts/lib/house/files.mjs";
import { run } from "../../scripts/lib/process/run.mjs";
import { ROOT } from "../../scripts/lib/setup/main.mjs";
import { npmCommand } from "../../scripts/lib/setup/npm.mjs";
import { drawing } from "../harness/draw.mjs";
import { wilson } from "../harness/statistics.mjs";

/** Of the server: what becomes of jobs, adapters and files. Their own tests are asked, but for those of processes, which run the build. */
const ROOMS = ["jobs", "launch", "projects", "registry", "storage"];
/** The last for Node 20. */
const STRYKER = ["core", "vitest-runner"].map((name) => `@stryker-mutator/${name}@9.6.1`);
const FLAGS = "--coverageAnalysis perTest --ignoreStatic --inPlace --reporters json --concurrency 2".split(" ");

const VITEST = `import config from "./vitest.config.js";
const { resolve, test: { setupFiles } } = config;
const include = ["packages/server/test/{${ROOMS}}/**/*.test.ts"];
export default { resolve, test: { testTimeout: 20_000, setupFiles, include, exclude: ["**/real-worker.test.ts"] } };
`;

/** A copy with the mutator in it; resolves with its folder. */
async function copyWithStryker() {
  const folder = copyOf(ROOT);
  const packages = path.join(folder, "node_modules");
  rmSync(packages); // a link, beyond which nothing may be installed
  cpSync(path.join(ROOT, "node_modules"), packages, { recursive: true, verbatimSymlinks: true });
  const [command, ...before] = npmCommand({ env: process.env });
  await run(command, [...before, "install", "--no-save", "--no-audit", "--no-fund", ...STRYKER], { cwd: folder, name: "npm" });
  writeFileSync(path.join(folder, "vitest.mutants.config.ts"), VITEST);
  return folder;
}

/** Lines of the rooms' files, each with this chance, as Stryker takes them. */
function linesOf(share, draw) {
  const lines = (file) =>
    readFileSync(path.join(ROOT, file), "utf8")
      .split("\n")
      .map((_line, at) => `${file}:${at + 1}-${at + 1}`);
  const rooms = ROOMS.map((room) => `packages/server/src/${room}`);
  return listedFiles(ROOT, rooms)
    .flatMap(lines)
    .filter(() => draw.below(1e6) < share * 1e6);
}

export const benchmark = {
  name: "mutants",
  description: "changes to single lines of the server's core that its tests notice (by the share; 0.05: ten minutes)",
  options: { share: { type: "string", default: "0.05" }, seed: { type: "string", default: "first" } },
  async run({ options, print }) {
    const folder = await copyWithStryker();
    try {
      const about = {
        testRunner: "vitest",
        plugins: ["@stryker-mutator/vitest-runner"],
        vitest: { configFile: "vitest.mutants.config.ts", related: false },
        mutate: linesOf(Number(options.share), drawing(options.seed)),
      };
      writeFileSync(path.join(folder, "stryker.config.json"), JSON.stringify(about));
      await run("npx", ["stryker", "run", ...FLAGS], { cwd: folder, name: "stryker", onLine: print });
      const { files } = JSON.parse(readFileSync(path.join(folder, "reports/mutation/mutation.json"), "utf8"));
      const all = Object.entries(files).flatMap(([file, { mutants }]) => mutants.map((one) => ({ file, ...one })));
      const tried = all.filter(({ status }) => ["Killed", "Timeout", "Survived", "NoCoverage"].includes(status));
      const left = tried.filter(({ status }) => ["Survived", "NoCoverage"].includes(status));
      for (const one of left) print(`${one.file}:${one.location.start.line}: ${one.mutatorName} → ${one.replacement}`);
      const noticed = tried.length - left.length;
      const percent = wilson(noticed, tried.length).map((share) => Math.round(100 * share));
      print(`noticed ${noticed} of ${tried.length} (${percent.join(", ")} %)`);
      return { tried: tried.length, noticed, left };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
