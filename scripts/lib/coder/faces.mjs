import { judgeAnswer } from "../agents/answers.mjs";

const ASKED = "Which files are in this folder? Use the tool.";
const NAME = "list_files";
const DESCRIPTION = "Lists the files of a folder";
const SCHEMA = { type: "object", properties: { folder: { type: "string" } }, required: ["folder"] };
const TOKENS = 48;

/** By the API: a request with one tool, and whether a whole answer holds a text or a call. */
const FACES = {
  "/v1/chat/completions": {
    body: {
      messages: [{ role: "user", content: ASKED }],
      tools: [{ type: "function", function: { name: NAME, description: DESCRIPTION, parameters: SCHEMA } }],
      max_tokens: TOKENS,
    },
    says: ({ choices: [{ message }] }) => message.content || message.tool_calls?.length > 0,
  },
  "/v1/responses": {
    body: {
      input: ASKED,
      tools: [{ type: "function", name: NAME, description: DESCRIPTION, parameters: SCHEMA }],
      max_output_tokens: TOKENS,
    },
    says: ({ output }) => output.some(({ type }) => type === "message" || type === "function_call"),
  },
  "/v1/messages": {
    body: {
      messages: [{ role: "user", content: ASKED }],
      tools: [{ name: NAME, description: DESCRIPTION, input_schema: SCHEMA }],
      max_tokens: TOKENS,
    },
    says: ({ content }) => content.some(({ type }) => type === "text" || type === "tool_use"),
  },
};

/** Asks the model with a tool through each API, whole and as a stream. Resolves with what is wrong with the answers, in sentences. */
export async function askEveryFace({ url, model, signal }) {
  const wrong = [];
  for (const [api, { body, says }] of Object.entries(FACES)) {
    for (const stream of [false, true]) {
      const answer = await fetch(`${url}${api}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...body, model, stream }),
        signal,
      });
      const text = await answer.text();
      const { end, why = end } = judgeAnswer({ api, status: answer.status, text, left: false });
      const what = `${api}${stream ? " as a stream" : ""}`;
      if (end !== "whole" && end !== "cut") wrong.push(`${what} was answered with ${why}`);
      else if (stream !== /^(?:event|data): /m.test(text)) wrong.push(`${what} was answered ${stream ? "whole" : "as a stream"}`);
      else if (!stream && !says(JSON.parse(text))) wrong.push(`${what} has neither a text nor a call: ${text.slice(0, 300)}`);
    }
  }
  return wrong;
}
