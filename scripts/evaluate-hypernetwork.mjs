// npm run evaluate-hypernetwork -- --base DIR --hypernetwork DIR [--documents N] [--sessions DIR] [--json]: the table of what a
// hypernetwork's adapters recall and leave alone, by real greedy generation.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

const fail = (sentence) => {
  console.error(sentence);
  process.exit(2);
};

const readSetup = (file) => {
  try {
    return JSON.parse(readFileSync(file, "utf8")).python;
  } catch {
    return fail(".imprint/setup.json cannot be read: run npm run setup again.");
  }
};

const findPython = () => {
  const setup = join(root, ".imprint", "setup.json");
  const python = process.env.IMPRINT_PYTHON ?? (existsSync(setup) ? readSetup(setup) : undefined);
  return typeof python === "string" && python !== ""
    ? python
    : fail("There is no Python yet: run npm run setup, or set IMPRINT_PYTHON.");
};

const PATHS = ["--base", "--hypernetwork", "--sessions"];

// npm runs scripts at the root; folders count from where the user stood
const settle = (word, index, words) =>
  PATHS.includes(words[index - 1]) ? resolve(process.env.INIT_CWD ?? process.cwd(), word) : word;

const words = process.argv.slice(2).map(settle);
const result = spawnSync(findPython(), ["-m", "imprint_trainer", "hypernetworks", "evaluate", ...words], {
  stdio: "inherit",
  env: {
    ...process.env,
    PYTHONPATH: [join(root, "trainer", "src"), process.env.PYTHONPATH].filter(Boolean).join(delimiter),
  },
});
if (result.error) fail(`Python could not be started: ${result.error.message}`);
process.exit(result.status ?? 1);
