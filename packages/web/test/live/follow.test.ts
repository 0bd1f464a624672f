import { createClient, NotFoundError } from "@imprint/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Connection, followEvents } from "../../src/live/follow.js";

const page = Object.assign(new EventTarget(), { hidden: false });

beforeEach(() => {
  page.hidden = false;
  vi.stubGlobal("document", page);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const show = (shown: boolean): void => {
  page.hidden = !shown;
  page.dispatchEvent(new Event("visibilitychange"));
};

const follow = (answers: readonly (() => Response)[]) => {
  const calls: (AbortSignal | null | undefined)[] = [];
  const fetch = vi.fn(async (_url: unknown, init?: RequestInit) => {
    calls.push(init?.signal);
    const answer = answers[calls.length - 1];
    if (answer === undefined) throw new Error("asked too often");
    return answer();
  });
  const client = createClient({ baseUrl: "http://service", fetch: fetch as typeof globalThis.fetch });
  const connections: Connection[] = [];
  const versions: number[] = [];
  const refused = vi.fn();
  const end = followEvents({
    open: (options) => client.jobs.watch(options),
    onEvent: (event) => event.type === "status" && versions.push(event.job.version),
    onConnection: (connection) => connections.push(connection),
    onRefused: refused,
  });
  return { calls, connections, versions, refused, end };
};

const stream = (version: number) => (): Response =>
  new Response(
    new ReadableStream({
      start: (body) => body.enqueue(new TextEncoder().encode(`data: {"type":"status","job":{"version":${version}}}\n\n`)),
    }),
    { headers: { "content-type": "text/event-stream" } },
  );

const refusal = (status: number) => (): Response => new Response("{}", { status });

test("a hidden page follows nothing, and begins anew when it is shown", async () => {
  const { calls, versions, connections, end } = follow([stream(1), stream(2)]);
  await vi.waitFor(() => expect(versions).toEqual([1]));
  show(false);
  expect(calls[0]?.aborted).toBe(true);
  show(true);
  await vi.waitFor(() => expect(versions).toEqual([1, 2]));
  expect(connections).toEqual(["connecting", "open", "open"]);
  end();
  expect(calls[1]?.aborted).toBe(true);
});

test("what the service does not know is not asked for again", async () => {
  const { calls, refused } = follow([refusal(404)]);
  await vi.waitFor(() => expect(refused).toHaveBeenCalledWith(expect.any(NotFoundError)));
  show(true);
  expect(calls).toHaveLength(1);
});

test("an error of something between is asked through", async () => {
  const { versions, connections, end } = follow([refusal(502), stream(1)]);
  await vi.waitFor(() => expect(connections).toEqual(["connecting", "lost"]));
  await vi.advanceTimersByTimeAsync(5_000);
  await vi.waitFor(() => expect(versions).toEqual([1]));
  end();
});
