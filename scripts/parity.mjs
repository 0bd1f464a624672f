// npm run parity -- DIR: recomputes every case of a folder in the fixtures' format and compares it with the reference's numbers.
import { delimiter, resolve } from "node:path";
import { refuse, runTrainer, userPath } from "./lib/trainer.mjs";

const [folder, ...rest] = process.argv.slice(2);
if (folder === undefined || rest.length > 0) refuse("usage: npm run parity -- DIR");
const tests = resolve(import.meta.dirname, "..", "trainer", "tests");
process.env.PYTHONPATH = [tests, process.env.PYTHONPATH].filter(Boolean).join(delimiter);
runTrainer(["d2l.parity", userPath(folder)]);
