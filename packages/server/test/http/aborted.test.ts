import Fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { abortedWith } from "../../src/http/aborted.js";
import { defer } from "../../src/runners/local/deferred.js";

/** A service whose only handler never answers, and the signal that it was given. */
const startEndless = async (handlerTimeout: number) => {
  const app = Fastify({ handlerTimeout });
  onTestFinished(() => app.close());
  const begun = defer<AbortSignal>();
  app.get("/", (_request, reply) => {
    begun.resolve(abortedWith(reply));
    return new Promise(() => {});
  });
  return { url: await app.listen({ port: 0, host: "127.0.0.1" }), begun: begun.promise };
};

const aborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    else signal.addEventListener("abort", () => resolve(signal.reason));
  });

test.each([
  ["its client leaves", 60_000, true],
  ["it took too long", 50, false],
])("a handler hears that %s", async (_case, handlerTimeout, leaves) => {
  const { url, begun } = await startEndless(handlerTimeout);
  const client = new AbortController();
  const answer = fetch(url, { signal: client.signal }).then(
    ({ status }) => status,
    () => "left",
  );
  const signal = await begun;
  expect(signal.aborted).toBe(false);
  if (leaves) client.abort();
  expect(await answer).toBe(leaves ? "left" : 503);
  expect(await aborted(signal)).toMatchObject({ name: "ClientGoneError" });
});
