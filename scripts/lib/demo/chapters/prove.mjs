import path from "node:path";
import { proofLines } from "../../../../packages/cli/dist/index.js";
import { fromHere } from "../paths.mjs";

/** Prints the proof of a completed job. Resolves with its adapter as the registry has it. */
export async function prove({ client, paper, signal, dataDir }, job) {
  paper.step("The proof, measured on the adapter as it was reloaded from disk");
  for (const line of proofLines(job.proof, paper.paint)) paper.item(line);
  const adapter = await client.adapters.get(job.adapter_id, { signal });
  paper.item(`folder                     ${fromHere(path.join(dataDir, adapter.path))}`);
  return adapter;
}
