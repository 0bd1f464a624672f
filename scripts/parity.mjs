// npm run parity -- DIR: recomputes every case of a folder in the fixtures' format and compares it with the reference's numbers.
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

const [folder, ...rest] = process.argv.slice(2);
if (folder === undefined || rest.length > 0) fail("usage: npm run parity -- DIR");

// npm runs scripts at the root; DIR counts from where the user stood
const directory = resolve(process.env.INIT_CWD ?? process.cwd(), folder);
const result = spawnSync(findPython(), ["-m", "imprint_trainer.doc_to_lora.parity", directory], {
  stdio: "inherit",
  env: {
    ...process.env,
    PYTHONPATH: [join(root, "trainer", "src"), process.env.PYTHONPATH].filter(Boolean).join(delimiter),
  },
});
if (result.error) fail(`Python could not be started: ${result.error.message}`);
process.exit(result.status ?? 1);
