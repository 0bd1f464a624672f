import { createServer } from "node:net";
import Fastify from "fastify";
import { onTestFinished } from "vitest";
import { systemClock } from "../../../src/common/clock.js";
import { addErrors } from "../../../src/http/errors.js";
import { compilers } from "../../../src/http/validation.js";
import { clusterNewsRoute } from "../../../src/routes/cluster/news.js";
import { type Callbacks, createCallbacks } from "../../../src/runners/ray/callbacks.js";
import type { App } from "../../../src/services.js";

export const freePort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
};

/** What nodes call: the route alone, at an address of its own. */
export const listening = async (): Promise<Callbacks> => {
  const port = await freePort();
  const callbacks = createCallbacks({ url: `http://127.0.0.1:${port}`, clock: systemClock() });
  const app = Fastify({ schemaController: { compilersFactory: compilers } }) as unknown as App;
  addErrors(app);
  clusterNewsRoute(app, { callbacks }, { clock: systemClock() });
  onTestFinished(() => app.close());
  await app.listen({ port, host: "127.0.0.1" });
  return callbacks;
};
