import { follow } from "../follow.mjs";

/** Trains on a session and follows the job. Resolves with the completed job's details. */
export async function train(scene, sessionId) {
  const { client, paper, signal } = scene;
  paper.step("Train an adapter on it (QLoRA)");
  const request = { session_id: sessionId, seed: 1 }; // the same adapter each time
  paper.remark(`POST /train/lora ${JSON.stringify(request)}`);
  const { job_id } = await client.train.lora(request, { signal });
  return follow(scene, job_id);
}
