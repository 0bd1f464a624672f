import { closureOf } from "./circles.mjs";
import { isProduct, lineCount, read, trackedFiles } from "./files.mjs";
import { pythonGraph, scriptGraph } from "./imports.mjs";
import { SERVER, TRAINER } from "./measure.mjs";

const ROUTES = `${SERVER}/routes/train/lora.ts`;
const KIND = `${SERVER}/kinds/lora/kind.ts`;
const JOB = `${TRAINER}/jobs/lora.py`;

/** What one reads to follow a LoRA training; within the service's sources and within the trainer's. */
export function walkLora(root) {
  const product = trackedFiles(root).filter(isProduct);
  const server = product.filter((path) => path.startsWith(`${SERVER}/`) && path.endsWith(".ts"));
  const trainer = product.filter((path) => path.startsWith(`${TRAINER}/`) && path.endsWith(".py"));
  const all = scriptGraph(root, server);
  const python = pythonGraph(root, "trainer/src", trainer);
  const lines = (paths) => paths.reduce((sum, path) => sum + lineCount(read(root, path)), 0);
  const figuresOf = (name, paths) => ({ [`${name}: files`]: paths.length, [`${name}: lines`]: lines(paths) });
  const reply = closureOf(scriptGraph(root, server, { types: false }), ROUTES);
  const job = closureOf(python, JOB);
  return {
    figures: {
      ...figuresOf("walk lora, to the reply", reply),
      ...figuresOf("walk lora, its route with types", closureOf(all, ROUTES)),
      ...figuresOf("walk lora, its kind with types", closureOf(all, KIND)),
      ...figuresOf("walk lora, trainer", job),
    },
    lists: { "to the reply": reply.sort(), trainer: job.sort() },
  };
}
