import http from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { askEveryFace } from "../../lib/coder/faces.mjs";

const WHOLE = {
  "/v1/chat/completions": { choices: [{ message: { content: "Hi" }, finish_reason: "stop" }] },
  "/v1/responses": { status: "completed", output: [{ type: "function_call", name: "list_files" }] },
  "/v1/messages": { stop_reason: "max_tokens", content: [{ type: "text", text: "Hi" }] },
};
const ENDS = {
  "/v1/chat/completions": "data: [DONE]\n\n",
  "/v1/responses": 'data: {"type":"response.completed"}\n\n',
  "/v1/messages": 'data: {"type":"message_stop"}\n\n',
};

/** What is wrong with a service that answers so. */
async function judged({ whole = {}, ends = {} }) {
  const service = http.createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const { stream, tools } = JSON.parse(body);
    response.writeHead(tools.length === 1 ? 200 : 422);
    response.end(stream ? { ...ENDS, ...ends }[request.url] : JSON.stringify({ ...WHOLE, ...whole }[request.url]));
  });
  await new Promise((resolve) => service.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise((resolve) => service.close(resolve)));
  return askEveryFace({ url: `http://127.0.0.1:${service.address().port}`, model: "any" });
}

test("texts and calls in whole answers, and streams that end, are as they must be", async () => {
  expect(await judged({})).toEqual([]);
});

test.each([
  [{ whole: { "/v1/messages": { content: [] } } }, /^\/v1\/messages has neither a text nor a call/],
  [
    { ends: { "/v1/responses": 'data: {"type":"response.created"}\n\n' } },
    /responses as a stream was answered with a stream without/,
  ],
  [{ ends: { "/v1/chat/completions": '{"choices":[]}' } }, /completions as a stream was answered whole/],
])("of %j it is said what is wrong", async (answers, sentence) => {
  expect(await judged(answers)).toEqual([expect.stringMatching(sentence)]);
});
