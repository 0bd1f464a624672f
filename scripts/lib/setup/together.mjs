import { Interrupted } from "../process/failures.mjs";

/**
 * Starts every work at once with a signal of their own. The first to fail aborts the others; once all have stopped, its
 * error is thrown, so that nothing runs on behind the caller's back.
 */
export async function together(signal, works) {
  const linked = new AbortController();
  const abort = () => linked.abort();
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort, { once: true });
  const failures = [];
  const results = await Promise.all(
    works.map(async (work) => {
      try {
        return await work(linked.signal);
      } catch (error) {
        failures.push(error);
        abort();
        return undefined;
      }
    }),
  );
  signal?.removeEventListener("abort", abort);
  if (failures.length > 0) throw failures.find((error) => !(error instanceof Interrupted)) ?? failures[0];
  return results;
}
