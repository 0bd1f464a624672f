// npm run parity -- DIR: recomputes every case of a folder in the fixtures' format and compares it with the reference's numbers.
import { refuse, runTrainer, userPath } from "./lib/trainer.mjs";

const [folder, ...rest] = process.argv.slice(2);
if (folder === undefined || rest.length > 0) refuse("usage: npm run parity -- DIR");
runTrainer(["doc_to_lora.parity", userPath(folder)]);
