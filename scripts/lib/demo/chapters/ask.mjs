const QUESTION = "Write gates.py for Harborline.";
const ANSWER_TOKENS = 110;

/** What only the recorded session can have taught. */
export const LEARNED = /HARBORLINE_\w+|Harborline gates|\b74(?:13|00|99)\b|\b7500\b|12\/45s|GateError|parse_gates/g;

/** Asks the base model and the adapter the same. Resolves with both answers. */
export async function ask({ client, paper, signal, baseModel }, adapter) {
  paper.step(`Ask both: "${QUESTION}"`);
  const answerOf = async (model) => {
    const request = { model, messages: [{ role: "user", content: QUESTION }], max_tokens: ANSWER_TOKENS, temperature: 0 };
    const { choices } = await client.chat.completions.create(request, { signal });
    const [{ message, finish_reason }] = choices;
    return { text: message.content, shown: finish_reason === "length" ? `${message.content} …` : message.content };
  };
  const before = await answerOf(baseModel);
  paper.answer(`${baseModel}, as it is`, before.shown, LEARNED);
  const after = await answerOf(adapter.adapter_id);
  paper.answer("the same with the adapter", after.shown, LEARNED);
  return { before: before.text, after: after.text, learned: LEARNED };
}
