import { readFileSync } from "node:fs";
import path from "node:path";
import { ROOT } from "../../setup/root.mjs";

const EXAMPLE = path.join(ROOT, "examples", "sessions", "harborline-gates.json");
const ANSWER_TOKENS = 440; // What the last attempt takes: two cores write some twenty a second.

/** What the last attempt was learned from (the task and the failed attempts), and the lines that only it holds. */
export async function lastAttempt() {
  const { importSessions } = await import("../../../../packages/sessions/dist/index.js");
  const imported = await importSessions([{ name: "harborline-gates.json", bytes: readFileSync(EXAMPLE) }]);
  const { steps } = imported.sessions[0];
  const last = steps.findLastIndex(({ source }) => source === "agent");
  const earlier = steps.slice(0, last);
  const messages = earlier.flatMap(({ source, text, observations = [] }) => [
    { role: source === "agent" ? "assistant" : source, content: text },
    ...observations.map(({ content }) => ({ role: "user", content })),
  ]);
  const said = new Set(earlier.flatMap(({ text }) => text.split("\n")));
  const lines = steps[last].text.split("\n").filter((line) => line.trim() !== "" && !said.has(line));
  return { messages, taught: new Set(lines) };
}

/** Has the base model and the adapter write the session's last attempt. Resolves with how many taught lines each wrote. */
export async function ask(scene, adapter) {
  const { paper, baseModel } = scene;
  paper.step("Give both the task and the attempts that failed, and ask for the next one");
  const { messages, taught } = await lastAttempt();
  const answer = async (model, name) => {
    const request = { model, messages, max_tokens: ANSWER_TOKENS };
    const text = await say(scene, request, { name, isTaught: (row) => taught.has(row) });
    return { text, taught: new Set(text.split("\n").filter((line) => taught.has(line))).size };
  };
  const before = await answer(baseModel, `${baseModel}, as it is`);
  const after = await answer(adapter.adapter_id, "the same with the adapter");
  paper.line();
  paper.remark(`Lines of the attempt that passed, and of none before it, written word for word in ${ANSWER_TOKENS} tokens:`);
  paper.item(`${before.taught} of ${taught.size} by the base model, ${after.taught} of ${taught.size} with the adapter`);
  return { before, after };
}

/** Has a model answer, greedily, and shows it with the taught lines marked. Resolves with the text. */
async function say({ client, paper, signal }, request, { name, isTaught }) {
  // As a stream: Node's fetch waits five minutes for the head of an answer, which a busy machine may need.
  const chunks = await client.chat.completions.create({ ...request, temperature: 0, stream: true }, { signal });
  let [text, reason] = ["", null];
  for await (const { choices } of chunks) {
    text += choices[0]?.delta.content ?? "";
    reason = choices[0]?.finish_reason ?? reason;
  }
  paper.answer(name, reason === "length" ? `${text} …` : text, isTaught);
  return text;
}
