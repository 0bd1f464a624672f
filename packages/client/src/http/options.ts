/** What a client is made of. Every field has a default. */
export interface ClientOptions {
  /** Where the service listens. Default: `http://127.0.0.1:7878`. */
  readonly baseUrl?: string;
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string;
  /** Another implementation of `fetch`. Default: the platform's. */
  readonly fetch?: typeof fetch;
  /** Further attempts after a 429, a 503 or a lost connection. Default: 2. */
  readonly maxRetries?: number;
  /** Milliseconds that one attempt may take. Default: 60,000; calls that run the model or send a recording have their own. */
  readonly timeoutMs?: number;
}

/** What one call may change. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly maxRetries?: number;
}

/** Options of the calls that start a job. A key is made up when none is given, so that a retry never starts a second job. */
export interface StartOptions extends CallOptions {
  readonly idempotencyKey?: string;
}

/** What the client takes from its surroundings: replaced in tests. */
export interface Runtime {
  readonly random: () => number;
  readonly newKey: () => string;
  /** Resolves after `ms`, rejects when the signal aborts. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}
