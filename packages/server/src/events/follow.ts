import type { Clock } from "../common/clock.js";
import { format, HEARTBEAT, RETRY } from "./feed.js";
import type { Source } from "./history.js";

const HEARTBEAT_MS = 15_000;
/** A reader that takes nothing for so long has left, or may as well connect again. */
const STALLED_MS = 60_000;
/** Characters handed over at once: what a slow reader leaves lying is not much more. */
const PIECE = 16 * 1024;

export interface FollowOptions {
  readonly source: Source;
  /** The last event that the client has; null when it comes for the first time. */
  readonly after: number | null;
  /** Aborts when the stream shall end; what has happened by then is still told. */
  readonly signal: AbortSignal;
  readonly onStalled: () => void;
  readonly clock: Clock;
}

const RESYNC = format({ type: "resync", reason: "Some events are not remembered any more: a snapshot follows." });

/** As many events as fit in a piece, at least one. */
const piece = (events: readonly string[]): readonly string[] => {
  let size = 0;
  const end = events.findIndex((event, index) => {
    size += event.length;
    return index > 0 && size > PIECE;
  });
  return end < 0 ? events : events.slice(0, end);
};

/** Resolves true at the next event or at the end, false when none has come until a heartbeat is due. */
const nextEvent = ({ source, signal, clock }: FollowOptions): Promise<boolean> =>
  new Promise((resolve) => {
    const settle = (hasCome: boolean): void => {
      unlisten();
      disarm();
      signal.removeEventListener("abort", onAbort);
      resolve(hasCome);
    };
    const onAbort = (): void => settle(true);
    const unlisten = source.feed.listen(() => settle(true));
    const disarm = clock.after(HEARTBEAT_MS, () => settle(false));
    signal.addEventListener("abort", onAbort);
  });

/**
 * The text of one client's stream. Nothing is kept for a client but the id of what it has: who reads slowly reads it later
 * from the feed, and gets a resync with a snapshot when the feed has moved on too far.
 */
export async function* follow(options: FollowOptions): AsyncGenerator<string, void, void> {
  const { source, signal, onStalled, clock } = options;
  const { feed } = source;
  let at = options.after;

  const next = async (): Promise<string | null> => {
    for (;;) {
      const missed = at === null ? null : feed.since(at);
      if (missed === null || at === null) {
        const text = `${at === null ? "" : RESYNC}id: ${feed.last()}\n${source.snapshot()}`;
        at = feed.last();
        return text;
      }
      if (missed.length > 0) {
        const sent = piece(missed);
        at += sent.length;
        return sent.join("");
      }
      if (source.ended() || signal.aborted) return null;
      if (!(await nextEvent(options))) return HEARTBEAT;
    }
  };

  for (let text: string | null = RETRY; text !== null; text = await next()) {
    const disarm = clock.after(STALLED_MS, onStalled);
    try {
      yield text;
    } finally {
      disarm();
    }
  }
}
