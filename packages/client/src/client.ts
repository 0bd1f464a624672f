import { createSubscribe } from "./events/subscribe.js";
import { createOpen } from "./http/open.js";
import type { ClientOptions, Runtime } from "./http/options.js";
import { createSend } from "./http/request.js";
import { createTransport } from "./http/transport.js";
import { type Adapters, adaptersResource } from "./resources/adapters.js";
import { type Chat, chatResource } from "./resources/chat.js";
import { type Jobs, jobsResource } from "./resources/jobs.js";
import { healthResource, type Models, modelsResource } from "./resources/models.js";
import { type Projects, projectsResource } from "./resources/projects.js";
import { type Sessions, sessionsResource } from "./resources/sessions.js";
import { type Train, trainResource } from "./resources/train.js";

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

const platform: Runtime = { random: Math.random, newKey: () => crypto.randomUUID(), sleep };

/** The service as an object: one member a resource. */
export interface Imprint {
  readonly health: ReturnType<typeof healthResource>;
  readonly train: Train;
  readonly jobs: Jobs;
  readonly sessions: Sessions;
  readonly adapters: Adapters;
  readonly projects: Projects;
  readonly models: Models;
  readonly chat: Chat;
}

/** A client of one Imprint service. Calls nothing until it is used. */
export function createClient(options: ClientOptions = {}, runtime: Runtime = platform): Imprint {
  const transport = createTransport(options);
  const send = createSend(transport, options, runtime);
  const open = createOpen(transport, options);
  const subscribe = createSubscribe(transport, options, runtime);
  return {
    health: healthResource(send),
    train: trainResource(send, runtime),
    jobs: jobsResource(send, subscribe, runtime),
    sessions: sessionsResource(send),
    adapters: adaptersResource(send, open, runtime),
    projects: projectsResource(send, subscribe, runtime),
    models: modelsResource(send, runtime),
    chat: chatResource(send, open),
  };
}
