import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { build } from "../../../packages/cli/test/support/build.ts";
import { call, read } from "./load.mjs";
import { LARGE, LONG, putSession } from "./recordings.mjs";
import { startService } from "./service.mjs";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const SESSIONS = 5_000;

let service;
beforeAll(async () => {
  await build();
  service = await startService({
    root: ROOT,
    fill: (folder) => {
      putSession(folder, LARGE);
      putSession(folder, LONG);
    },
  });
}, 180_000);
afterAll(() => service?.stop(), 60_000);

/** The longest that the event loop computed at once: other work on the machine does not change it. Where that is not known, its longest delay. */
const longest = ({ computed_ms, delay_ms }) => (computed_ms ?? delay_ms).max;

it.each([LARGE.id, LONG.id])(
  "a first look at the stored session '%s' does not hold up the event loop",
  async (id) => {
    const seen = await service.measured(() => call(`${service.url}/sessions/${id}`));
    expect(longest(seen)).toBeLessThan(50);
  },
  60_000,
);

it("an import of many sessions, and lists of them for many readers, do not hold up the event loop", async () => {
  const chat = (index) =>
    `${JSON.stringify({
      messages: [
        { role: "user", content: `Explain part ${index}.` },
        { role: "assistant", content: "It is empty." },
      ],
    })}\n`;
  const body = Array.from({ length: SESSIONS }, (_, index) => chat(index));
  const imported = () => call(`${service.url}/sessions`, { method: "POST", type: "application/x-ndjson", body });
  const importing = await service.measured(async () => {
    expect(JSON.parse(await imported()).sessions).toHaveLength(SESSIONS);
  });
  const reading = await service.measured(() => read({ url: service.url, path: "/sessions", readers: 16, rounds: 20 }));
  expect([longest(importing), longest(reading)]).toEqual([expect.toSatisfy((ms) => ms < 50), expect.toSatisfy((ms) => ms < 50)]);
}, 120_000);
