import type { JobEvent, JobsEvent } from "@imprint/contracts";

/** A server-sent event as it arrived. */
export interface Received {
  readonly id: number | null;
  readonly data: JobEvent | JobsEvent;
}

/** The whole events of a stream's text; the rest, comments included, is passed over. */
export const eventsIn = (text: string): readonly Received[] =>
  text
    .slice(0, text.lastIndexOf("\n\n") + 1)
    .split("\n\n")
    .flatMap((block) => {
      const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
      const data = field("data");
      if (data === undefined) return [];
      const event = JSON.parse(data) as JobEvent | JobsEvent;
      if (event.type !== field("event")) throw new Error(`event ${field("event")} holds a ${event.type}`);
      const id = field("id");
      return [{ id: id === undefined ? null : Number(id), data: event }];
    });
