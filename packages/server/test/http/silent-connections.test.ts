import { once } from "node:events";
import { connect } from "node:net";
import { expect, test, vi } from "vitest";
import { startService } from "../support/service.js";

test("a connection that never asked for anything does not hold the service up", async () => {
  const service = await startService();
  const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
  const closed = once(socket, "close");
  await vi.waitFor(
    async () => expect(await new Promise((resolve) => service.app.server.getConnections((_, count) => resolve(count)))).toBe(1),
    { interval: 5 },
  );
  const before = performance.now();
  await service.close(0);
  expect(performance.now() - before).toBeLessThan(2_000);
  await closed;
});
