import { readFileSync } from "node:fs";

const ANSWER_TOKENS = 110;
const EXAMPLE = new URL("../../../../examples/sessions/harborline-gates.json", import.meta.url);

/** Names that the session chose. Earlier attempts in the prompt say some of them: the proof is the loss, this only illustrates it. */
export const LEARNED = /HARBORLINE_DEFAULTS|HARBORLINE_PORTS|Harborline gates/g;

/** The session up to its last answer, as the model met it: the task, the failed attempts and what the checks said. */
const upToLastAnswer = async () => {
  const { importSessions } = await import("@imprint/sessions");
  const imported = await importSessions([{ name: "harborline-gates.json", bytes: readFileSync(EXAMPLE) }]);
  const { steps } = imported.sessions[0];
  const last = steps.findLastIndex(({ source }) => source === "agent");
  return steps
    .slice(0, last)
    .flatMap(({ source, text, observations = [] }) => [
      { role: source === "agent" ? "assistant" : source, content: text },
      ...observations.map(({ content }) => ({ role: "user", content })),
    ]);
};

/** Has the base model and the adapter write the session's last attempt. Resolves with both answers. */
export async function ask({ client, paper, signal, baseModel }, adapter) {
  paper.step("Give both the session up to its last attempt, and ask for that one");
  const messages = await upToLastAnswer();
  const answerOf = async (model) => {
    const { choices } = await client.chat.completions.create(
      { model, messages, max_tokens: ANSWER_TOKENS, temperature: 0 },
      { signal },
    );
    const [{ message, finish_reason }] = choices;
    return { text: message.content, shown: finish_reason === "length" ? `${message.content} …` : message.content };
  };
  const before = await answerOf(baseModel);
  paper.answer(`${baseModel}, as it is`, before.shown, LEARNED);
  const after = await answerOf(adapter.adapter_id);
  paper.answer("the same with the adapter", after.shown, LEARNED);
  return { before: before.text, after: after.text, learned: LEARNED };
}
