import { createParser } from "eventsource-parser";

/** One server-sent event. `id` is the last id that the stream has given up to here. */
export interface Message {
  readonly event: string;
  readonly data: string;
  readonly id: string;
}

interface MessagesOptions {
  readonly lastId?: string;
  /** Told when the service is waited for, which is not while the caller takes its time with an event. */
  readonly silence?: { begin(): void; end(): void };
}

/** The events of one connection, each when it is whole. Whoever stops reading closes it. */
export async function* messagesOf(
  body: ReadableStream<Uint8Array>,
  { lastId = "", silence }: MessagesOptions = {},
): AsyncGenerator<Message> {
  let id = lastId;
  let messages: Message[] = [];
  const parser = createParser({
    onEvent: (event) => {
      id = event.id ?? id;
      messages.push({ event: event.event ?? "message", data: event.data, id });
    },
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      silence?.begin();
      const { value, done } = await reader.read();
      silence?.end();
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      const whole = messages;
      messages = [];
      yield* whole;
    }
  } finally {
    // Nothing waits for the rest of a stream that nobody reads.
    void reader.cancel().catch(() => undefined);
  }
}
