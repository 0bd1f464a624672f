import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request, type ServerResponse } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import Fastify from "fastify";
import { expect, onTestFinished } from "vitest";
import { type Clock, systemClock } from "../../src/common/clock.js";
import { createHistory, type History } from "../../src/events/history.js";
import { createStreams, type Streams } from "../../src/events/streams.js";
import type { App } from "../../src/http/app.js";
import { addErrors } from "../../src/http/errors.js";
import { compilers } from "../../src/http/schemas.js";
import { jobEventRoutes } from "../../src/routes/jobs/events.js";
import { createStage, type Stage } from "../jobs/stage.js";
import { eventsIn, type Received } from "../support/events.js";
import { makeFolder } from "../support/service.js";

export interface Reader {
  readonly request: ClientRequest;
  readonly response: IncomingMessage;
  /** Reads on, until as much has come as asked for or the stream ends. */
  read(enough?: (events: readonly Received[]) => boolean): Promise<readonly Received[]>;
}

export interface EventStage {
  readonly stage: Stage;
  readonly history: History;
  readonly streams: Streams;
  readonly app: App;
  /** The service's side of every stream that was opened. */
  readonly sent: readonly { readonly response: ServerResponse; readonly payload: Readable }[];
  /** Connects and reads nothing beyond the head of the answer. */
  connect(path: string, after?: number): Promise<Reader>;
}

/**
 * The event routes over a stage's jobs, on a local socket: the kernel buffers little there, so that a reader who does not read
 * is soon felt.
 */
export const createEventStage = async ({
  maxStreams = 200,
  clock = systemClock(),
}: {
  readonly maxStreams?: number;
  readonly clock?: Clock;
} = {}): Promise<EventStage> => {
  const stage = createStage();
  const history = createHistory({ jobs: stage.jobs, clock: stage.clock });
  const streams = createStreams({ limit: maxStreams, clock });
  const app = Fastify({ forceCloseConnections: "idle", schemaController: { compilersFactory: compilers } }) as unknown as App;
  const sent: { response: ServerResponse; payload: Readable }[] = [];
  app.addHook("onSend", async (_request, reply, payload) => {
    if (payload instanceof Readable) sent.push({ response: reply.raw, payload });
    return payload;
  });
  addErrors(app);
  jobEventRoutes(app, { jobs: stage.jobs, history, streams });
  const socketPath = join(makeFolder(), "s");
  await app.listen({ path: socketPath });
  onTestFinished(async () => {
    await app.close();
  });

  const connect = async (path: string, after?: number): Promise<Reader> => {
    const headers = after === undefined ? {} : { "last-event-id": String(after) };
    const client = request({ socketPath, path, headers, agent: false }).end();
    onTestFinished(() => void client.destroy());
    const [response] = (await once(client, "response")) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    response.setEncoding("utf8");
    const chunks = response.iterator({ destroyOnReturn: false });
    const events: Received[] = [];
    let text = "";
    return {
      request: client,
      response,
      read: async (enough = () => false) => {
        while (!enough(events)) {
          const { value, done } = await chunks.next();
          if (done) break;
          text += value;
          const whole = text.lastIndexOf("\n\n") + 2;
          if (whole < 2) continue;
          events.push(...eventsIn(text.slice(0, whole)));
          text = text.slice(whole);
        }
        return events;
      },
    };
  };
  return { stage, history, streams, app, sent, connect };
};
