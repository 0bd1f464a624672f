import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { Clock } from "../common/clock.js";
import { ImprintError } from "../common/error.js";
import { follow } from "./follow.js";
import type { Source } from "./history.js";

/** What the readers of a stream that ends with the service have to take its last events. */
const CLOSE_MS = 500;

export interface Streams {
  /** The stream for one response. Throws ImprintError TOO_MANY_STREAMS. */
  open(source: Source, { after, response }: { readonly after: number | null; readonly response: ServerResponse }): Readable;
  /** Streams that are open. */
  count(): number;
  /** Tells every reader what has happened, and ends the streams; who does not read is cut off. Resolves when none is open. */
  close(): Promise<void>;
}

/** Every event stream of the service. */
export const createStreams = ({ limit, clock }: { readonly limit: number; readonly clock: Clock }): Streams => {
  const open = new Map<ServerResponse, AbortController>();
  let closing = false;
  let onEmpty = (): void => {};

  return {
    open(source, { after, response }) {
      if (closing) throw new ImprintError("SHUTTING_DOWN", "The service is shutting down.");
      if (open.size >= limit)
        throw new ImprintError("TOO_MANY_STREAMS", `${open.size} event streams are open, which is the limit.`);
      const gone = new AbortController();
      if (!response.destroyed) open.set(response, gone);
      response.once("close", () => {
        gone.abort();
        open.delete(response);
        if (open.size === 0) onEmpty();
      });
      const texts = follow({ source, after, signal: gone.signal, onStalled: () => response.destroy(), clock });
      // One piece at a time: the next is asked for when the connection has taken the last.
      return Readable.from(texts, { objectMode: false, highWaterMark: 1 });
    },
    count: () => open.size,
    async close() {
      closing = true;
      for (const end of open.values()) end.abort();
      const disarm = clock.after(CLOSE_MS, () => {
        for (const response of open.keys()) response.destroy();
      });
      if (open.size > 0)
        await new Promise<void>((resolve) => {
          onEmpty = resolve;
        });
      disarm();
    },
  };
};
