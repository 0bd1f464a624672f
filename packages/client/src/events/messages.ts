import { createParser, type Message } from "./parser.js";

interface MessagesOptions {
  readonly lastId?: string;
  /** Hears every sign of life. */
  readonly onSign?: () => void;
}

/** The events of one connection. Whoever stops reading closes it. */
export async function* messagesOf(
  body: ReadableStream<Uint8Array>,
  { lastId = "", onSign = () => {} }: MessagesOptions = {},
): AsyncGenerator<Message> {
  const parser = createParser(lastId);
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      onSign();
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    // Nothing waits for the rest of a stream that nobody reads.
    void reader.cancel().catch(() => undefined);
  }
}
