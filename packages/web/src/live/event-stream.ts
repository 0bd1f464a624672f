import { ApiError } from "@imprint/client";

export type Connection = "connecting" | "open" | "lost";

const TYPES = ["snapshot", "status", "progress", "log", "resync"] as const;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 5_000;

interface StreamOptions<Event> {
  readonly url: string;
  /** A plain call to the same resource: says why a stream was refused. */
  readonly probe: () => Promise<unknown>;
  readonly onEvent: (event: Event) => void;
  readonly onConnection: (connection: Connection) => void;
  /** The service knows nothing at this address: no stream will come. */
  readonly onRefused: (error: ApiError) => void;
  /** Whether an event is the last one, after which the service closes the stream. */
  readonly isLast?: (event: Event) => boolean;
}

/**
 * Server-sent events for as long as the page is visible: a browser has six connections to a service for all its tabs.
 * A lost connection is opened again, by the browser with Last-Event-ID or, where the service refused, by a snapshot.
 * Returns what ends it.
 */
export function openStream<Event extends { readonly type: string }>(options: StreamOptions<Event>): () => void {
  const { url, probe, onEvent, onConnection, onRefused, isLast = () => false } = options;
  let source: EventSource | null = null;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let isOver = false;

  const close = (): void => {
    clearTimeout(retry);
    source?.close();
    source = null;
  };
  const end = (): void => {
    isOver = true;
    close();
    document.removeEventListener("visibilitychange", follow);
  };
  const receive = ({ data }: MessageEvent<string>): void => {
    const event = JSON.parse(data) as Event;
    failures = 0;
    onConnection("open");
    onEvent(event);
    if (isLast(event)) end();
  };
  const ask = async (): Promise<void> => {
    close();
    try {
      await probe();
    } catch (error) {
      if (isOver) return;
      if (error instanceof ApiError && (error.status === 404 || error.status === 401)) {
        end();
        onRefused(error);
        return;
      }
    }
    if (isOver) return;
    failures += 1;
    retry = setTimeout(follow, Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures));
  };
  const follow = (): void => {
    if (document.hidden || isOver) {
      close();
      return;
    }
    if (source !== null) return;
    const opened = new EventSource(url);
    source = opened;
    for (const type of TYPES) opened.addEventListener(type, receive);
    opened.addEventListener("open", () => onConnection("open"));
    opened.addEventListener("error", () => {
      onConnection("lost");
      if (opened.readyState === EventSource.CLOSED && source === opened) void ask();
    });
  };

  onConnection("connecting");
  document.addEventListener("visibilitychange", follow);
  follow();
  return end;
}
