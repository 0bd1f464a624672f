import { readFileSync } from "node:fs";
import { follow } from "../follow.mjs";
import { say } from "../say.mjs";

const FILE = "examples/chats/harborline-port.jsonl";
const FACT = { question: "Which port does the Harborline gateway use?", value: "7413" };
const ANSWER_TOKENS = 24;

/** A short session in one forward pass, and its fact asked without it. Resolves with both answers and the value. */
export async function imprint(scene) {
  const { client, paper, signal, baseModel } = scene;
  paper.step("Imprint a short session in one forward pass (Doc-to-LoRA)");
  const bytes = readFileSync(new URL(`../../../../${FILE}`, import.meta.url));
  const { sessions } = await client.sessions.create(bytes, { signal, outcome: "success" });
  const request = { trajectory_ids: [sessions[0].session_id], seed: 1 };
  paper.item(`${paper.paint("green", "✓")} ${FILE}`);
  paper.remark(`POST /train/hypernetwork ${JSON.stringify(request)}`);
  const { job_id } = await client.train.hypernetwork(request, { signal });
  const job = await follow(scene, job_id);
  const seconds = (Date.parse(job.finished_at) - Date.parse(job.started_at)) / 1000;
  paper.item(`${seconds.toFixed(1)} s from start to registered adapter, its proof included`);
  paper.remark(`Asked without the session: ${FACT.question}`);
  const asked = { messages: [{ role: "user", content: FACT.question }], max_tokens: ANSWER_TOKENS };
  const answer = (model, name) => say(scene, { ...asked, model }, { name, isTaught: (row) => row.includes(FACT.value) });
  const before = await answer(baseModel, `${baseModel}, as it is`);
  const after = await answer(job.adapter_id, "the same with the adapter");
  return { before, after, value: FACT.value };
}
