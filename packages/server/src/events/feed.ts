import type { JobEvent, JobsEvent, ProjectEvent } from "@imprint/contracts";

/** A server-sent event, without an id; named, where its API names events. JSON has no line breaks, so its data is one line. */
export const frame = (data: unknown, event?: string): string =>
  `${event === undefined ? "" : `event: ${event}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

/** An event that names itself. */
export const format = (event: JobEvent | JobsEvent | ProjectEvent): string => frame(event, event.type);

/** A comment line, which clients pass over: it keeps proxies and clients from taking a quiet stream for a dead one. */
export const HEARTBEAT = ": heartbeat\n\n";

/** How long a browser waits before it connects again. */
export const RETRY = "retry: 1000\n\n";

/** What is remembered of a feed: at most so many events, and so many characters of them, but the last event always. */
export interface FeedLimits {
  readonly events: number;
  readonly characters: number;
}

/** Events with ids that grow by one, of which the last ones are remembered. One text serves every reader. */
export interface Feed {
  /** The last event's id; before the first event, the number before its id. */
  last(): number;
  push(event: string): void;
  /** What follows an id; null when not all of that is remembered, or the id is not of this feed. */
  since(id: number): readonly string[] | null;
  /** Calls the listener at every event. The answer ends it. */
  listen(listener: () => void): () => void;
  /** Characters that are remembered. */
  size(): number;
  /** Remembers nothing of what was; ids go on. */
  forget(): void;
}

export const createFeed = ({ before, limits }: { readonly before: number; readonly limits: FeedLimits }): Feed => {
  const listeners = new Set<{ readonly tell: () => void }>();
  let events: string[] = [];
  let size = 0;
  let last = before;

  return {
    last: () => last,
    push(event) {
      last += 1;
      const text = `id: ${last}\n${event}`;
      events.push(text);
      size += text.length;
      while (events.length > 1 && (events.length > limits.events || size > limits.characters)) {
        size -= events.shift()?.length ?? 0;
      }
      for (const { tell } of [...listeners]) tell();
    },
    since: (id) => (id > last || id < last - events.length ? null : events.slice(events.length - (last - id))),
    listen(listener) {
      const entry = { tell: listener };
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
    size: () => size,
    forget() {
      events = [];
      size = 0;
    },
  };
};
