import type { ClientOptions } from "./options.js";
import { DEFAULT_TIMEOUT_MS, read } from "./request.js";
import type { Call, Transport } from "./transport.js";

/** Sends a call once and answers with the response itself, its body unread. Throws an ImprintError. */
export type Open = (call: Call) => Promise<Response>;

export function createOpen(transport: Transport, client: ClientOptions): Open {
  return async (call) => {
    const { timeoutMs = client.timeoutMs ?? DEFAULT_TIMEOUT_MS } = call.options ?? {};
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), timeoutMs);
    let response: Response;
    try {
      response = await transport.fetch(call, limit.signal);
    } catch (cause) {
      throw transport.lost(call, cause, limit.signal);
    } finally {
      clearTimeout(timer);
    }
    if (response.ok) return response;
    const { error } = await read(response);
    throw error;
  };
}
