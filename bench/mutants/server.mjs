import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { listedFiles } from "../../scripts/lib/house/files.mjs";
import { run } from "../../scripts/lib/process/run.mjs";
import { ROOT } from "../../scripts/lib/setup/main.mjs";
import { npmCommand } from "../../scripts/lib/setup/npm.mjs";

/** What becomes of jobs, adapters and files. Their own tests are asked, but for those that run the build or measure a process. */
const ROOMS = ["jobs", "launch", "projects", "registry", "storage"];
/** Whose tests are asked next, of what those leave: they use the rooms. */
const USERS = ["events", "kinds", "routes", "sessions"];
/** The last for Node 20. */
const STRYKER = ["core", "vitest-runner"].map((name) => `@stryker-mutator/${name}@9.6.1`);
const FLAGS = "--coverageAnalysis perTest --ignoreStatic --inPlace --reporters json --concurrency 2".split(" ");

const NOTICED = { Killed: true, Timeout: true, Survived: false, NoCoverage: false };

const vitest = (rooms) => `import config from "./vitest.config.js";
const { resolve, test: { setupFiles } } = config;
const include = ["packages/server/test/{${rooms}}/**/*.test.ts"];
const exclude = ["event-loop", "import-bounds", "killed", "large-training-file", "official-python-client", "real-worker"];
export default { resolve, test: { testTimeout: 20_000, setupFiles, include, exclude: exclude.map((name) => \`**/\${name}.test.ts\`) } };
`;

/** Lines of the rooms' files, each with this chance, as Stryker takes them. */
function drawnLines(chance) {
  const rooms = ROOMS.map((room) => `packages/server/src/${room}`);
  const lines = (file) =>
    readFileSync(path.join(ROOT, file), "utf8")
      .split("\n")
      .map((_line, at) => `${file}:${at + 1}-${at + 1}`);
  return listedFiles(ROOT, rooms).flatMap(lines).filter(chance);
}

/** Stryker's changes of drawn lines in a copy of the tree. */
export async function serverMutants({ folder, chance, print }) {
  const packages = path.join(folder, "node_modules");
  rmSync(packages); // a link, beyond which nothing may be installed
  cpSync(path.join(ROOT, "node_modules"), packages, { recursive: true, verbatimSymlinks: true });
  const [command, ...before] = npmCommand({ env: process.env });
  await run(command, [...before, "install", "--no-save", "--no-audit", "--no-fund", ...STRYKER], { cwd: folder, name: "npm" });
  const tried = await stryker({ folder, rooms: ROOMS, mutate: drawnLines(chance), print });
  const left = tried.filter(({ noticed }) => !noticed).map(({ line }) => line);
  if (left.length === 0) return tried;
  const again = await stryker({ folder, rooms: USERS, mutate: [...new Set(left)], print });
  const noticed = new Set(again.filter((one) => one.noticed).map(({ what }) => what));
  return tried.map((one) => (noticed.has(one.what) ? { ...one, noticed: true } : one));
}

/** Stryker's changes of some lines, each with whether the rooms' tests notice it. */
async function stryker({ folder, rooms, mutate, print }) {
  writeFileSync(path.join(folder, "vitest.mutants.config.ts"), vitest(rooms));
  const about = {
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner"],
    vitest: { configFile: "vitest.mutants.config.ts", related: false },
    mutate,
  };
  writeFileSync(path.join(folder, "stryker.config.json"), JSON.stringify(about));
  await run("npx", ["stryker", "run", ...FLAGS], { cwd: folder, name: "stryker", onLine: print });
  const { files } = JSON.parse(readFileSync(path.join(folder, "reports/mutation/mutation.json"), "utf8"));
  const all = Object.entries(files).flatMap(([file, { mutants }]) => mutants.map((one) => ({ file, ...one })));
  return all
    .filter(({ status }) => status in NOTICED)
    .map(({ file, location: { start, end }, mutatorName, replacement, status }) => ({
      noticed: NOTICED[status],
      line: `${file}:${start.line}-${end.line}`,
      what: `${file}:${start.line}:${start.column}: ${mutatorName} → ${replacement}`,
    }));
}
