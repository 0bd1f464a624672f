import { createInterface } from "node:readline/promises";
import { ApiError, type ChatRequest, type Imprint } from "@imprint/client";
import type { Io } from "../io.js";
import { plain } from "../output/text.js";

interface Waiting {
  readonly client: Imprint;
  /** Says what the service works on while nothing of an answer is there. */
  readonly note: (text: string) => void;
}

/** Between two looks at what an answer waits for. */
const LOOK_MS = 3_000;

/** Notes what the service works on, every few seconds until the returned function is called. */
export function noteWait({ client, note }: Waiting, everyMs = LOOK_MS): () => void {
  const began = Date.now();
  let over = false;
  const look = async (): Promise<void> => {
    const { preparing } = await client.health({ maxRetries: 0 });
    if (!over && preparing.length > 0) note(`${plain(preparing.join("; "))} (${Math.round((Date.now() - began) / 1000)} s)`);
  };
  const timer = setInterval(() => void look().catch(() => {}), everyMs); // what is wrong, the chat itself says
  return () => {
    over = true;
    clearInterval(timer);
  };
}

/** Writes an answer as it is generated, and answers with all of it. What was written ends with a line break, whatever happens. */
export async function streamAnswer(
  request: Omit<ChatRequest, "stream">,
  { client, note, out, signal }: Waiting & { readonly out: Io["out"]; readonly signal?: AbortSignal },
): Promise<string> {
  let answer = "";
  const begun = noteWait({ client, note });
  try {
    const chunks = await client.chat.completions.create({ ...request, stream: true }, signal && { signal });
    try {
      for await (const { choices } of chunks) {
        const piece = choices[0]?.delta.content ?? "";
        if (piece !== "") begun();
        answer += piece;
        out.write(plain(piece));
      }
    } finally {
      out.write("\n");
    }
  } finally {
    begun();
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
  const note = (text: string): void => void err.write(`${paint.err("dim", text)}\n`);
  note(`Talking to ${plain(model)}. Ctrl-D ends.`);
  let messages: ChatRequest["messages"] = [];
  while (!ended.signal.aborted) {
    const asked = await lines.question(paint.err("cyan", "> "), { signal: ended.signal }).catch(() => "");
    if (asked.trim() === "") continue;
    const question = [...messages, { role: "user", content: asked } as const];
    try {
      const answer = await streamAnswer({ model, messages: question, ...sampling }, { client, note, out, signal: ended.signal });
      messages = [...question, { role: "assistant", content: answer }];
    } catch (error) {
      if (ended.signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      err.write(`${paint.err("red", "error:")} ${plain(error.detail)}\n`);
    }
  }
}
