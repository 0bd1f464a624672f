import { ApiError, type EventOptions, type EventStream } from "@imprint/client";

export type Connection = "connecting" | "open" | "lost";

/** After what the client does not try again by itself, such as a proxy's error while the service is away. */
const RETRY_MS = 5_000;

interface FollowOptions<Event> {
  readonly open: (options: EventOptions) => EventStream<Event>;
  readonly onEvent: (event: Event) => void;
  readonly onConnection: (connection: Connection) => void;
  /** The service knows nothing at this address: no stream will come. */
  readonly onRefused: (error: ApiError) => void;
}

/**
 * Events for as long as the page is visible: a browser has six connections to a service for all its tabs.
 * Returns what ends it.
 */
export function followEvents<Event>({ open, onEvent, onConnection, onRefused }: FollowOptions<Event>): () => void {
  let running: AbortController | null = null;
  let retry: ReturnType<typeof setTimeout> | undefined;

  const stop = (): void => {
    clearTimeout(retry);
    running?.abort();
    running = null;
  };
  const end = (): void => {
    stop();
    document.removeEventListener("visibilitychange", follow);
  };
  const read = async ({ signal }: AbortController): Promise<void> => {
    try {
      for await (const event of open({ signal, maxRetries: Number.POSITIVE_INFINITY, onConnection })) {
        if (signal.aborted) return;
        onEvent(event);
      }
      end();
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && (error.status === 404 || error.status === 401)) {
        end();
        onRefused(error);
        return;
      }
      onConnection("lost");
      running = null;
      retry = setTimeout(follow, RETRY_MS);
    }
  };
  const follow = (): void => {
    if (document.hidden) stop();
    if (document.hidden || running !== null) return;
    clearTimeout(retry);
    running = new AbortController();
    void read(running);
  };

  onConnection("connecting");
  document.addEventListener("visibilitychange", follow);
  follow();
  return end;
}
