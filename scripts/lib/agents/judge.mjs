import { AFTER, FILE, TASK } from "./clients.mjs";

const CALL = "<tool_call>";

/** What an attempt of an agent left wrong, in sentences; none where the file is as asked and one session holds the whole conversation. */
export function judge({ failure, text, sessions, script, changed }) {
  const wrong = [];
  if (failure !== null) wrong.push(failure.message);
  if (text !== AFTER) wrong.push(`${FILE} holds ${JSON.stringify(text)}`);
  for (const file of changed) wrong.push(`the user's ${file} was changed`);
  // An agent may ask for a title of the task beside it.
  const [session] = sessions
    .filter(({ steps }) => steps.some(({ source, text }) => source === "user" && text.includes(TASK)))
    .sort((one, other) => other.steps.length - one.steps.length);
  if (session === undefined) return [...wrong, `no session has the task; there are ${sessions.length}`];
  const { source, steps, tools } = session;
  if (source.agent === null) wrong.push("its session does not say whose it is");
  const turns = steps.filter((step) => step.source === "agent" && step.context_only === undefined);
  if (turns.length !== script.length) wrong.push(`its session has ${turns.length} answers, not ${script.length}`);
  for (const [index, answer] of script.entries()) {
    const { tool_calls: calls = [], text = "" } = turns[index] ?? {};
    if (answer.startsWith(CALL) ? !answer.includes(JSON.stringify(calls[0]?.name)) : text !== answer)
      wrong.push(`answer ${index + 1} of its session is ${JSON.stringify({ text, calls })}`);
    // The last call of an agent may be what ends it.
    if (calls.length > 0 && index < script.length - 1 && !turns[index].observations?.length)
      wrong.push(`call ${index + 1} of its session has no result`);
  }
  if (tools.length === 0 && script[0].startsWith(CALL)) wrong.push("its session has no tools");
  return wrong;
}
