// Tells the demo's story as a program: node tell.mjs DATA_DIR. SIGINT interrupts it.
import { tell } from "../../lib/demo/story.mjs";

const interrupted = new AbortController();
process.on("SIGINT", () => interrupted.abort());
process.exitCode = await tell({ started: performance.now(), signal: interrupted.signal, dataDir: process.argv[2] });
