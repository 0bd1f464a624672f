import type { ChatResult } from "@imprint/contracts";
import { defer } from "../runners/local/deferred.js";

/**
 * The text of an answer as it is generated, then its result. A reader that is slow gets longer pieces and never holds up the
 * trainer: what waits here is at most the whole answer. Throws what the call rejects with.
 */
export async function* textStream(
  call: (onText: (text: string) => void) => Promise<ChatResult>,
): AsyncGenerator<string, ChatResult> {
  let text = "";
  let over = false;
  let wake = defer<void>();
  const result = call((piece) => {
    text += piece;
    wake.resolve();
  }).finally(() => {
    over = true;
    wake.resolve();
  });
  result.catch(() => {}); // thrown below, once the text before it was read
  for (;;) {
    if (text !== "") {
      const piece = text;
      text = "";
      yield piece;
    } else if (over) return result;
    else {
      wake = defer();
      await wake.promise;
    }
  }
}
