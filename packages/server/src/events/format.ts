import type { JobEvent, JobsEvent, ProjectEvent } from "@imprint/contracts";

/** An event as server-sent events write it, without its id. JSON has no line breaks, so its data is one line. */
export const format = (event: JobEvent | JobsEvent | ProjectEvent): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** A comment line, which clients pass over: it keeps proxies and clients from taking a quiet stream for a dead one. */
export const HEARTBEAT = ": heartbeat\n\n";

/** How long a browser waits before it connects again. */
export const RETRY = "retry: 1000\n\n";
