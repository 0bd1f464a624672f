import { readFileSync } from "node:fs";
import { proofLines } from "../../../../packages/cli/dist/index.js";
import { follow } from "../follow.mjs";
import { say } from "../say.mjs";

const FILE = "examples/chats/harborline-port.jsonl";
const FACT = { question: "Which port does the Harborline gateway use?", value: "7413" };
const ANSWER_TOKENS = 24;

/** The session that was trained on, and a short chat, each in one forward pass. Resolves with the session's proof, and with
 * both answers to a question about the chat's fact and its value. */
export async function imprint(scene, sessionId) {
  const { client, paper, signal, baseModel } = scene;
  paper.step("Imprint sessions in one forward pass, without training");
  const { proof } = await pass(scene, sessionId);
  for (const line of proofLines(proof, paper.paint).slice(0, 2)) paper.item(line);
  const bytes = readFileSync(new URL(`../../../../${FILE}`, import.meta.url));
  const { sessions } = await client.sessions.create(bytes, { signal, outcome: "success" });
  paper.item(`${paper.paint("green", "✓")} ${FILE}`);
  const job = await pass(scene, sessions[0].session_id);
  paper.remark(`Asked without the chat: ${FACT.question}`);
  const asked = { messages: [{ role: "user", content: FACT.question }], max_tokens: ANSWER_TOKENS };
  const answer = (model, name) => say(scene, { ...asked, model }, { name, isTaught: (row) => row.includes(FACT.value) });
  const before = await answer(baseModel, `${baseModel}, as it is`);
  const after = await answer(job.adapter_id, "the same with the adapter");
  return { proof, before, after, value: FACT.value };
}

async function pass(scene, sessionId) {
  const { client, paper, signal } = scene;
  const request = { trajectory_ids: [sessionId], seed: 1 };
  paper.remark(`POST /train/hypernetwork ${JSON.stringify(request)}`);
  const { job_id } = await client.train.hypernetwork(request, { signal });
  const job = await follow(scene, job_id);
  const seconds = (Date.parse(job.finished_at) - Date.parse(job.started_at)) / 1000;
  paper.item(`${seconds.toFixed(1)} s from start to registered adapter, its proof included`);
  return job;
}
