import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/common/clock.js";
import { createCallbacks } from "../../../src/runners/ray/callbacks.js";
import { manualClock } from "../../common/manual-clock.js";
import { startService } from "../../support/service.js";
import { loraTask, startWatched, temporaryFolder } from "../support.js";
import { freePort, listening } from "./listening.js";
import { headOf, rayRunnerOn } from "./support.js";

const opened = () => {
  const clock = manualClock();
  const callbacks = createCallbacks({ url: "http://service:7878", clock });
  const token = callbacks.open("a");
  let woken = 0;
  callbacks.listen("a", () => {
    woken += 1;
  });
  const hear = (bytes: number, { ended = false, attempt = "a", said = token } = {}) =>
    callbacks.hear({ attempt, bytes, ended }, said);
  return { clock, callbacks, token, hear, woken: () => woken };
};

test("news wake their attempt, and are not heard twice", () => {
  const { hear, woken } = opened();
  expect([hear(10), hear(10), hear(9), hear(11), woken()]).toEqual(["heard", "refused", "refused", "heard", 2]);
});

test("the end uses the token up", () => {
  const { hear, woken } = opened();
  expect([hear(10, { ended: true }), hear(10, { ended: true }), hear(11), woken()]).toEqual(["heard", "refused", "refused", 1]);
});

test("a wrong token, the token of another attempt, and one of an attempt that is over are refused alike", () => {
  const { callbacks, hear, token, woken } = opened();
  const other = callbacks.open("b");
  expect(hear(1, { said: "0".repeat(64) })).toBe("refused");
  expect(hear(1, { said: other })).toBe("refused");
  expect(hear(1, { attempt: "b", said: token })).toBe("refused");
  expect(hear(1, { attempt: "nobody's" })).toBe("refused");
  callbacks.close("a");
  expect([hear(1), woken()]).toEqual(["refused", 0]);
});

test("an attempt is heard so often in a second, and its end always", () => {
  const { clock, hear, woken } = opened();
  const said = Array.from({ length: 50 }, (_, at) => hear(at + 1));
  expect(said.filter((one) => one === "heard")).toHaveLength(20);
  expect(said.filter((one) => one === "too_often")).toHaveLength(30);
  clock.advance(1_000);
  expect([hear(100), hear(0, { ended: true }), woken()]).toEqual(["heard", "heard", 22]);
});

test("whatever is said without the token wakes nobody, and keeps nothing from being heard", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string(), fc.nat(), fc.boolean(), fc.constantFrom("a", "b", "c"))), (said) => {
      const { hear, woken } = opened();
      for (const [words, bytes, ended, attempt] of said) expect(hear(bytes, { said: words, ended, attempt })).toBe("refused");
      expect([woken(), hear(1), hear(1, { ended: true })]).toEqual([0, "heard", "heard"]);
    }),
  );
});

const HOURS = 10_000_000;
const done = expect.objectContaining({ type: "done" });

test("a job is followed to its end by its callbacks alone, and its token is in no submission and no log", async () => {
  const head = await headOf();
  const runner = rayRunnerOn({
    address: head.address,
    callbacks: await listening(),
    pollMs: HOURS,
    args: ['{"stderr":"words"}'],
  });
  const watched = startWatched(runner, loraTask({ output_dir: temporaryFolder() }));
  await watched.seen(({ type }) => type === "progress");
  const { IMPRINT_ATTEMPT: folder } = (head.submissions[0] as { runtime_env: { env_vars: Record<string, string> } }).runtime_env
    .env_vars;
  const { callback } = JSON.parse(readFileSync(join(String(folder), "attempt.json"), "utf8"));
  expect(callback.token).toMatch(/^[0-9a-f]{64}$/);
  expect(await watched.outcome).toEqual(done);
  expect(JSON.stringify(head.submissions) + watched.logText()).not.toContain(callback.token);
});

test("a service that cannot be reached by its nodes looks now and then, as without callbacks", async () => {
  const head = await headOf();
  const callbacks = createCallbacks({ url: `http://127.0.0.1:${await freePort()}`, clock: systemClock() });
  const runner = rayRunnerOn({ address: head.address, callbacks });
  expect(await startWatched(runner, loraTask({ output_dir: temporaryFolder() })).outcome).toEqual(done);
});

test("nodes call one path by one name, with a token of their own; the service's opens it as little as theirs open anything else", async () => {
  const flags = { runner: "ray", ray_address: "http://127.0.0.1:1", storage: temporaryFolder(), token: "a-token-of-the-service" };
  const service = await startService({ flags: { ...flags, ray_callback_url: "http://service.lan:7878/" } });
  const call = async (headers: object, { url = "/cluster/news", body = {} as object } = {}) => {
    const payload = { attempt: "a", bytes: 1, ended: false, ...body };
    const answer = await service.call({ method: "POST", url, payload, headers: { host: "service.lan:7878", ...headers } });
    return [answer.statusCode, answer.json().code];
  };
  const theirs = { authorization: `Bearer ${"0".repeat(64)}` };
  expect(await call(theirs)).toEqual([401, "UNAUTHORIZED"]);
  expect(await call({})).toEqual([401, "UNAUTHORIZED"]);
  expect(await call({ authorization: "Bearer a-token-of-the-service" })).toEqual([401, "UNAUTHORIZED"]);
  expect(await call({ ...theirs, host: "evil.com" })).toEqual([403, "HOST_NOT_ALLOWED"]);
  expect(await call({ ...theirs, origin: "http://evil.com" })).toEqual([403, "ORIGIN_NOT_ALLOWED"]);
  expect(await call(theirs, { url: "/train/lora" })).toEqual([403, "HOST_NOT_ALLOWED"]);
  const own = new URL(service.url).host;
  expect(await call({ ...theirs, host: own }, { url: "/train/lora" })).toEqual([401, "UNAUTHORIZED"]);
  expect(await call(theirs, { body: { result: "mine" } })).toEqual([422, "VALIDATION_FAILED"]);
  expect(await call(theirs, { body: { attempt: "x".repeat(2_000) } })).toEqual([413, "BODY_TOO_LARGE"]);
  const without = await startService({ flags });
  const answer = await without.call({
    method: "POST",
    url: "/cluster/news",
    payload: {},
    headers: { authorization: "Bearer a-token-of-the-service" },
  });
  expect(answer.statusCode).toBe(404);
});
