import type { ImportResult } from "@imprint/contracts";
import { beforeAll, expect, test } from "vitest";
import { build, memoryOf, type Process, startProcess } from "./support/process.js";
import { makeFolder } from "./support/service.js";

beforeAll(build, 120_000);

const MB = 1024 * 1024;

/** A chat of so many bytes. */
const longChat = (bytes: number): string => {
  const text = "The gate takes the ports 7001 to 7042, and the check rejects all others. ".repeat(40);
  const pair = [
    { role: "user", content: text },
    { role: "assistant", content: text },
  ];
  const messages = Array.from({ length: Math.ceil(bytes / (2 * text.length)) }, () => pair).flat();
  return `${JSON.stringify({ messages })}\n`;
};

const upload = (service: Process, body: string | AsyncIterable<string>): Promise<Response> =>
  service.fetch("/sessions", {
    method: "POST",
    headers: { "content-type": "application/x-ndjson" },
    body,
    duplex: "half",
  } as RequestInit);

test("health is answered while a session of 20 MB is imported", { timeout: 60_000 }, async () => {
  const service = await startProcess(makeFolder());
  expect((await upload(service, longChat(MB))).status).toBe(201);
  const begin = performance.now();
  let importing = true;
  const imported = upload(service, longChat(20 * MB)).finally(() => {
    importing = false;
  });
  let longest = 0;
  for (let last = begin; importing; ) {
    expect((await service.fetch("/health")).status).toBe(200);
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }
  const response = await imported;
  expect([response.status, (await response.json()) as object]).toMatchObject([201, { format: "chat-jsonl" }]);
  // Compared with the import itself, since other work on the machine slows both. In one thread it would be nearly all of it.
  expect(longest).toBeLessThan((performance.now() - begin) / 3);
});

test("the service never holds a recording of 150 MB", { timeout: 120_000 }, async () => {
  const service = await startProcess(makeFolder());
  const before = memoryOf(service);
  const [part, parts] = [longChat(MB), 150];
  const lines = async function* () {
    for (let index = 0; index < parts; index += 1) yield part.replace("The gate", `Gate ${index}`);
  };
  let [importing, most] = [true, 0];
  const imported = upload(service, lines()).finally(() => {
    importing = false;
  });
  while (importing) {
    await service.fetch("/health");
    most = Math.max(most, memoryOf(service));
  }
  const response = await imported;
  expect([response.status, ((await response.json()) as ImportResult).sessions.length]).toEqual([201, parts]);
  expect(most - before).toBeLessThan(parts * part.length);
});

test("a large file that is no session is refused as a small one is, and the next one is imported", {
  timeout: 60_000,
}, async () => {
  const service = await startProcess(makeFolder());
  const refused = await upload(service, '{"a": 1}\n'.repeat(20_000));
  expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([422, "SESSION_UNREADABLE"]);
  const [first, again] = await Promise.all([upload(service, longChat(MB)), upload(service, longChat(MB))]);
  expect([first.status, again.status].sort()).toEqual([200, 201]);
});
