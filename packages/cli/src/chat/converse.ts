import { createInterface } from "node:readline/promises";
import { ApiError, type ChatRequest, type Imprint } from "@imprint/client";
import type { Io } from "../io.js";
import { plain } from "../output/text.js";

/** Writes an answer as it is generated, and answers with all of it. What was written ends with a line break, whatever happens. */
export async function streamAnswer(
  request: Omit<ChatRequest, "stream">,
  { client, out, signal }: { readonly client: Imprint; readonly out: Io["out"]; readonly signal?: AbortSignal },
): Promise<string> {
  let answer = "";
  const chunks = await client.chat.completions.create({ ...request, stream: true }, signal && { signal });
  try {
    for await (const { choices } of chunks) {
      const piece = choices[0]?.delta.content ?? "";
      answer += piece;
      out.write(plain(piece));
    }
  } finally {
    out.write("\n");
  }
  return answer;
}

/** Asks and answers on a terminal until the user ends it. A refused question leaves the conversation as it was. */
export async function converse({
  io: { input, err, out, paint },
  client,
  model,
  sampling,
}: {
  io: Io;
  client: Imprint;
  model: string;
  sampling: Pick<ChatRequest, "max_tokens" | "temperature" | "seed">;
}): Promise<void> {
  const ended = new AbortController();
  const lines = createInterface({ input, output: err });
  lines.once("close", () => ended.abort());
  err.write(`${paint.err("dim", `Talking to ${plain(model)}. Ctrl-D ends.`)}\n`);
  let messages: ChatRequest["messages"] = [];
  while (!ended.signal.aborted) {
    const asked = await lines.question(paint.err("cyan", "> "), { signal: ended.signal }).catch(() => "");
    if (asked.trim() === "") continue;
    const question = [...messages, { role: "user", content: asked } as const];
    try {
      const answer = await streamAnswer({ model, messages: question, ...sampling }, { client, out, signal: ended.signal });
      messages = [...question, { role: "assistant", content: answer }];
    } catch (error) {
      if (ended.signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      err.write(`${paint.err("red", "error:")} ${plain(error.detail)}\n`);
    }
  }
}
