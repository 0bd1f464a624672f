import http from "node:http";
import { pipeline } from "node:stream/promises";
import { judgeAnswer } from "./answers.mjs";

/** By the API that is asked: the fields that limit an answer, the first of which every request gets. */
const LIMITS = {
  "/v1/chat/completions": ["max_tokens", "max_completion_tokens"],
  "/v1/responses": ["max_output_tokens"],
  "/v1/messages": ["max_tokens"],
};

/** The request's JSON with an answer of at most so many tokens; all else is as the client sent it. */
export function limited(api, body, tokens) {
  const fields = LIMITS[api];
  const field = fields.find((name) => body[name] != null) ?? fields[0];
  return { ...body, [field]: Math.min(body[field] ?? tokens, tokens) };
}

/**
 * A way to the service at `url` on which every answer is looked at, and none is longer than `tokens`. `answers` has what was asked and
 * how each answer ended, in sentences; what else passes is as it was.
 */
export async function watch(url, { tokens }) {
  const answers = [];
  const server = http.createServer(async (request, response) => {
    const [api] = request.url.split("?", 1);
    const isKnown = request.method === "POST" && Object.hasOwn(LIMITS, api);
    let body = await bytesOf(request);
    const asked = { api, request: "" };
    if (isKnown) {
      const json = limited(api, JSON.parse(body.toString("utf8")), tokens);
      body = Buffer.from(JSON.stringify(json));
      asked.request = JSON.stringify({ ...json, stream: undefined });
    }
    const { host: _host, "content-length": _length, "transfer-encoding": _coding, ...headers } = request.headers;
    const options = {
      method: request.method,
      headers: { ...headers, "content-length": body.length, "accept-encoding": "identity" },
    };
    const onward = http.request(new URL(request.url, url), options);
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    onward.on("response", async (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      const heard = [];
      answer.on("data", (piece) => heard.push(piece));
      // A client may leave once it has what it wants.
      const left = await pipeline(answer, response).then(
        () => false,
        () => true,
      );
      const { statusCode: status } = answer;
      const text = Buffer.concat(heard).toString("utf8");
      if (isKnown || status >= 400) answers.push({ ...asked, ...judgeAnswer({ api, status, text, left }) });
    });
    onward.end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    answers,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bytesOf(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces);
}
