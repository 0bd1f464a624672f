import path from "node:path";
import { proofLines } from "../../../../packages/cli/dist/index.js";
import { follow } from "../follow.mjs";
import { fromHere } from "../paper.mjs";

/** Trains on a session and follows the job. Resolves with the completed job's details. */
export async function train(scene, sessionId) {
  const { client, paper, signal } = scene;
  paper.step("Train an adapter on it (QLoRA)");
  const request = { session_id: sessionId, seed: 1 }; // the same adapter each time
  paper.remark(`POST /train/lora ${JSON.stringify(request)}`);
  const { job_id } = await client.train.lora(request, { signal });
  return follow(scene, job_id);
}

/** Prints the proof of a completed job. Resolves with its adapter as the registry has it. */
export async function prove({ client, paper, signal, dataDir }, job) {
  paper.step("The proof, measured on the adapter as it was reloaded from disk");
  for (const line of proofLines(job.proof, paper.paint)) paper.item(line);
  const adapter = await client.adapters.get(job.adapter_id, { signal });
  paper.item(`folder                     ${fromHere(path.join(dataDir, adapter.path))}`);
  return adapter;
}
