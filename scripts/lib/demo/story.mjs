import path from "node:path";
import { ROOT } from "../setup/root.mjs";
import { ask } from "./chapters/ask.mjs";
import { closing } from "./chapters/closing.mjs";
import { importExamples } from "./chapters/import.mjs";
import { imprint } from "./chapters/imprint.mjs";
import { prove, train } from "./chapters/train.mjs";
import { doubts } from "./doubts.mjs";
import { createPaper } from "./paper.mjs";
import { startDemoService } from "./service.mjs";

/** Kept after the demo: its adapters can be tried. */
const DATA_DIR = path.join(ROOT, ".imprint", "demo");

/** Tells the whole story on `out`. Resolves with the exit code; nothing is left running then. */
export async function tell({ started, signal, dataDir = DATA_DIR, out = process.stdout, flags, afterwards = async () => [] }) {
  const paper = createPaper(out, process.env);
  const { paint } = paper;
  let service;
  try {
    paper.title("Imprint", "A coding agent's recorded session becomes an adapter for a small model, on this machine.");
    paper.step("The service runs");
    service = await startDemoService({ dataDir, flags });
    paper.item(`${service.url}  ${paint("dim", "API and /docs, while the demo lasts")}`);
    const scene = { ...service, paper, signal, out, dataDir };

    const sessionId = await importExamples(scene);
    const job = await train(scene, sessionId);
    const adapter = await prove(scene, job);
    const answers = await ask(scene, adapter);
    const imprinted = await imprint(scene, sessionId);
    const others = await afterwards({ ...scene, sessionId, adapter, job });
    closing(scene, adapter);

    const found = [...doubts({ proof: job.proof, health: adapter.health, ...answers, imprinted }), ...others];
    for (const doubt of found) paper.line(`${paint("red", "✗")} ${doubt}`);
    const seconds = `${((performance.now() - started) / 1000).toFixed(1)} s`;
    paper.line(found.length === 0 ? `${paint("green", "✓")} Done in ${seconds}.` : `The demo failed after ${seconds}.`);
    return found.length === 0 ? 0 : 1;
  } catch (error) {
    paper.broken(error, signal);
    return 1;
  } finally {
    await service?.close();
  }
}
