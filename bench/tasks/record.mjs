import http from "node:http";
import { runAgent } from "./run-agent.mjs";

const MODEL = "expert";

/** Answers chats with a way's steps, one after another, as an OpenAI-compatible service; `asked` is the last request. */
async function scripted(way) {
  const heard = { asked: null, answers: [] };
  const server = http.createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    heard.asked = JSON.parse(body);
    const at = heard.answers.length;
    const { say, command } = way[at];
    const call = { id: `call_${at}`, type: "function", function: { name: "bash", arguments: JSON.stringify({ command }) } };
    const message = { role: "assistant", content: say, tool_calls: [call] };
    heard.answers.push(message);
    const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ id: `chat-${at}`, object: "chat.completion", created: 0, model: MODEL, choices, usage }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { heard, url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

/**
 * An expert's session: mini-swe-agent itself, its model scripted, so that prompts and observations are what a model is shown later. Its
 * own trajectory holds no tools; the last request has all, and with the last answer it is a line of chat JSONL.
 */
export async function recordSession({ task, way, repository, programs, signal, look }) {
  const { heard, url, close } = await scripted(way);
  try {
    const { commit, prompt, limits } = task;
    const end = await runAgent({ repository, commit, prompt, limits, url, model: MODEL, programs, signal, look });
    if (end.exit !== "Submitted" || heard.answers.length !== way.length)
      throw new Error(
        `The session of ${task.name} ended with ${end.exit} after ${heard.answers.length} of ${way.length} answers.`,
      );
    const { messages, tools } = heard.asked;
    return { session: JSON.stringify({ messages: [...messages, heard.answers.at(-1)], tools }), found: end.found };
  } finally {
    close();
  }
}

/** A session as text, for a prompt. */
export function shown(session) {
  const { messages } = JSON.parse(session);
  return messages
    .filter(({ role }) => role !== "system")
    .map(({ content, tool_calls: [call] = [] }) =>
      call === undefined ? content : `${content}\n$ ${JSON.parse(call.function.arguments).command}`,
    )
    .join("\n");
}
