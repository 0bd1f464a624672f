import { ApiError, ConnectionError } from "@imprint/client";
import type { WatchClock } from "./watch-files.js";

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

/** Whether the service is away or overloaded for now: the same call may succeed later. */
const isAway = (error: unknown): error is Error =>
  error instanceof ConnectionError || (error instanceof ApiError && (error.status === 429 || error.status === 503));

/** Work on one thing after another that the service does. */
type Work<Given, Answer> = (given: Given, signal: AbortSignal) => Promise<Answer>;

/**
 * Work, such as a store, that outlasts a service which stops and comes back: it says so once, tries again after 1, 2, 4 ... 30 seconds, and says
 * when the service is back. Rejects with the service's absence once `signal` aborts.
 */
export const outlasting =
  <Given, Answer>(
    work: Work<Given, Answer>,
    { clock, note }: { readonly clock: Pick<WatchClock, "sleep">; readonly note: (text: string) => void },
  ): Work<Given, Answer> =>
  async (given, signal) => {
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(LONGEST_WAIT_MS, wait * 2)) {
      try {
        const done = await work(given, signal);
        if (wait > FIRST_WAIT_MS) note("The service is back.");
        return done;
      } catch (error) {
        if (signal.aborted || !isAway(error)) throw error;
        if (wait === FIRST_WAIT_MS) note(`${error.message.replace(/\.$/, "")}. The watch goes on when the service is back.`);
        await clock.sleep(wait, signal);
        if (signal.aborted) throw error;
      }
    }
  };
