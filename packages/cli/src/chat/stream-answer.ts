import type { ChatRequest, Imprint } from "@imprint/client";
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
