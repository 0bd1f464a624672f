import { AbortError, ConnectionError, type ImprintError } from "../errors.js";
import type { CallOptions, ClientOptions, Runtime } from "../http/options.js";
import { DEFAULT_MAX_RETRIES, read } from "../http/request.js";
import { isRetryable, retryDelay } from "../http/retry.js";
import type { Call, Transport } from "../http/transport.js";
import { messagesOf } from "./messages.js";

/** The service says something every 15 seconds, if only a comment. */
const DEFAULT_SILENCE_MS = 45_000;

export interface EventOptions extends CallOptions {
  /** Begin with what followed this event, instead of a snapshot. */
  readonly lastEventId?: string;
  /** Milliseconds without a sign of life after which the connection counts as lost. Default: 45,000. */
  readonly timeoutMs?: number;
  /** Told when a connection is there, and when it is lost and will be taken up again. */
  readonly onConnection?: (connection: "open" | "lost") => void;
}

/** Events in order, over as many connections as it takes. */
export interface EventStream<Event> extends AsyncIterable<Event> {
  /** Id of the last event that was handed over; a later stream can begin after it. */
  readonly lastEventId: string | undefined;
}

interface Subscription<Event> {
  readonly path: string;
  /** Whether nothing follows an event: the stream may end after it. */
  readonly isLast: (event: Event) => boolean;
  readonly options?: EventOptions | undefined;
}

export type Subscribe = <Event>(subscription: Subscription<Event>) => EventStream<Event>;

/** Why a connection ended before its stream was over. */
interface Break {
  readonly error: ImprintError;
  readonly retryAfter: string | null;
  readonly again: boolean;
}

const isEventStream = ({ headers }: Response): boolean => headers.get("content-type")?.startsWith("text/event-stream") ?? false;

const broken = (error: ImprintError): Break => ({ error, retryAfter: null, again: !(error instanceof AbortError) });

async function refusal(response: Response): Promise<Break> {
  const { error, retryAfter } = await read(response);
  if (error === null) {
    const message = "The answer is no event stream: is this address an Imprint service?";
    return { error: new ConnectionError(message), retryAfter, again: false };
  }
  return { error, retryAfter, again: isRetryable(error, true) };
}

/** A signal that aborts when a silence lasts too long. */
function silenceLimit(ms: number): { readonly signal: AbortSignal; begin(): void; end(): void } {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = (): void => clearTimeout(timer);
  const begin = (): void => {
    end();
    timer = setTimeout(() => controller.abort(), ms);
  };
  return { signal: controller.signal, begin, end };
}

/** Follows event streams: connects again, after the last event that was seen, when a connection breaks. */
export function createSubscribe(transport: Transport, client: ClientOptions, runtime: Runtime): Subscribe {
  return <Event>({ path, isLast, options = {} }: Subscription<Event>): EventStream<Event> => {
    const { signal, timeoutMs = DEFAULT_SILENCE_MS, maxRetries = client.maxRetries ?? DEFAULT_MAX_RETRIES } = options;
    let lastEventId = options.lastEventId;

    const callNow = (): Call => {
      const headers = { accept: "text/event-stream", ...(lastEventId !== undefined && { "last-event-id": lastEventId }) };
      return { method: "GET", path, headers, options };
    };

    async function* iterate(): AsyncGenerator<Event, void, void> {
      for (let tried = 0; ; tried += 1) {
        const call = callNow();
        const limit = silenceLimit(timeoutMs);
        let end: Break;
        limit.begin();
        try {
          const response = await transport.fetch(call, limit.signal);
          if (response.status === 204) return;
          if (!response.ok || !isEventStream(response) || response.body === null) end = await refusal(response);
          else {
            let over = false;
            options.onConnection?.("open");
            for await (const message of messagesOf(response.body, { lastId: lastEventId ?? "", silence: limit })) {
              tried = 0;
              if (message.id !== "") lastEventId = message.id;
              const event = JSON.parse(message.data) as Event;
              over = isLast(event);
              yield event;
            }
            if (over) return;
            end = broken(new ConnectionError("The event stream broke off."));
          }
        } catch (cause) {
          end = broken(transport.lost(call, cause, limit.signal));
        } finally {
          limit.end();
        }
        const delay = end.again && tried < maxRetries ? retryDelay(tried, end.retryAfter, runtime.random) : null;
        if (delay === null) throw end.error;
        options.onConnection?.("lost");
        await runtime.sleep(delay, signal).catch((cause) => {
          throw new AbortError("The call was aborted", { cause });
        });
      }
    }

    return {
      get lastEventId() {
        return lastEventId;
      },
      [Symbol.asyncIterator]: iterate,
    };
  };
}
