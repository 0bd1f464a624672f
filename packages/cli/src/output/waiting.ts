/** Who waits is told this often what for. */
const EVERY_MS = 5_000;

/** Notes what is waited for, every few seconds until it is there. */
export async function waitingFor<T>(what: string, work: Promise<T>, note: (text: string) => void): Promise<T> {
  const begun = performance.now();
  const timer = setInterval(() => note(`${what} (${Math.round((performance.now() - begun) / 1000)} s)`), EVERY_MS);
  return work.finally(() => clearInterval(timer));
}
