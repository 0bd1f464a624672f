import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { ClientOptions } from "../../src/http/options.js";
import { createClient, type Imprint } from "../../src/index.js";

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What the service says: an answer, a connection that breaks, or silence. */
export type Reply =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string>; readonly text?: string }
  | { readonly stream: readonly (string | Uint8Array)[]; readonly close: "end" | "hang up" | "silence" }
  | "hang up"
  | "silence";

export interface Service {
  readonly client: Imprint;
  readonly seen: readonly Seen[];
  /** Milliseconds that the client waited between attempts, in order. */
  readonly pauses: readonly number[];
  /** Resolves when the n-th request (from 1) has arrived. */
  arrived(n: number): Promise<void>;
}

/** A real HTTP server that answers with the given replies in order, the last one for ever, and a client for it that never waits. */
export async function service(replies: readonly Reply[], options: ClientOptions = {}): Promise<Service> {
  const seen: Seen[] = [];
  const pauses: number[] = [];
  const waiting = new Map<number, () => void>();
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    seen.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, body });
    waiting.get(seen.length)?.();
    const reply = replies[Math.min(seen.length, replies.length) - 1];
    if (reply === undefined || reply === "hang up") return void request.socket.destroy();
    if (reply === "silence") return;
    if ("stream" in reply) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const piece of reply.stream) response.write(piece);
      if (reply.close === "end") response.end();
      if (reply.close === "hang up") response.write("", () => response.destroy());
      return;
    }
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    response.end(reply.text ?? (reply.body === undefined ? "" : JSON.stringify(reply.body)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  let keys = 0;
  const client = createClient(
    { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ...options },
    {
      random: () => 0,
      newKey: () => `key-${++keys}`,
      sleep: async (ms, signal) => {
        pauses.push(ms);
        signal?.throwIfAborted();
      },
    },
  );
  const arrived = (n: number): Promise<void> =>
    seen.length >= n ? Promise.resolve() : new Promise((resolve) => waiting.set(n, resolve));
  return { client, seen, pauses, arrived };
}

export const problem = (status: number, code: string, detail: string, headers: Record<string, string> = {}): Reply => ({
  status,
  body: { type: `about:${code}`, title: code, status, code, detail, request_id: "req-1" },
  headers: { "content-type": "application/problem+json", ...headers },
});
