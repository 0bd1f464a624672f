import { createParser, type Message } from "./parser.js";

interface MessagesOptions {
  readonly lastId?: string;
  /** Told when the service is waited for, which is not while the caller takes its time with an event. */
  readonly silence?: { begin(): void; end(): void };
}

/** The events of one connection. Whoever stops reading closes it. */
export async function* messagesOf(
  body: ReadableStream<Uint8Array>,
  { lastId = "", silence }: MessagesOptions = {},
): AsyncGenerator<Message> {
  const parser = createParser(lastId);
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      silence?.begin();
      const { value, done } = await reader.read();
      silence?.end();
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    // Nothing waits for the rest of a stream that nobody reads.
    void reader.cancel().catch(() => undefined);
  }
}
