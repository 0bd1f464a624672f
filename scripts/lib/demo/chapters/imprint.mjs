import { proofLines } from "../../../../packages/cli/dist/index.js";
import { follow } from "../follow.mjs";

/** The session that was trained on, in one forward pass. Resolves with its proof. */
export async function imprint({ client, paper, signal, ...scene }, sessionId) {
  paper.step("Imprint the session in one forward pass, without training");
  const request = { trajectory_ids: [sessionId], seed: 1 };
  paper.remark(`POST /train/hypernetwork ${JSON.stringify(request)}`);
  const { job_id } = await client.train.hypernetwork(request, { signal });
  const { proof, started_at, finished_at } = await follow({ client, paper, signal, ...scene }, job_id);
  const seconds = (Date.parse(finished_at) - Date.parse(started_at)) / 1000;
  paper.item(`${seconds.toFixed(1)} s from start to registered adapter, its proof included`);
  for (const line of proofLines(proof, paper.paint).slice(0, 2)) paper.item(line);
  return proof;
}
