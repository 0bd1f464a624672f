import { once } from "node:events";
import { Agent, request } from "node:http";
import { pipeline } from "node:stream/promises";

const agent = new Agent({ keepAlive: true });

/** One call. Gives the answer's text; `body` may be a text or pieces of one. */
export async function call(url, { method = "GET", type = "application/json", body } = {}) {
  const asked = request(url, { method, agent, headers: body === undefined ? {} : { "content-type": type } });
  const answered = once(asked, "response");
  await pipeline(body === undefined ? [] : typeof body === "string" ? [body] : body, asked);
  const [response] = await answered;
  const text = await response.setEncoding("utf8").reduce((all, part) => all + part, "");
  if (response.statusCode >= 300) throw new Error(`${method} ${url}: ${response.statusCode} ${text.slice(0, 300)}`);
  return text;
}

/** Calls a path with `readers` at once, each `rounds` times. Rejects where one fails. */
export async function read({ url, path, readers, rounds }) {
  const reader = async () => {
    for (let turn = 0; turn < rounds; turn += 1) await call(`${url}${path}`);
  };
  await Promise.all(Array.from({ length: readers }, reader));
}
