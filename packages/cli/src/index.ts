export { type Io, systemIo } from "./io.js";
export { AGENTS } from "./launch/agents.js";
export { createPaint, type Paint } from "./output/paint.js";
export { proofLines } from "./output/proof.js";
export { run } from "./run.js";
export { watchJob } from "./watch/watch-job.js";
