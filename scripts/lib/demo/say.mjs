/** Has a model answer, greedily, and shows it with the taught lines marked. Resolves with the text. */
export async function say({ client, paper, signal }, request, { name, isTaught }) {
  const { choices } = await client.chat.completions.create({ ...request, temperature: 0 }, { signal });
  const [{ message, finish_reason }] = choices;
  paper.answer(name, finish_reason === "length" ? `${message.content} …` : message.content, isTaught);
  return message.content;
}
