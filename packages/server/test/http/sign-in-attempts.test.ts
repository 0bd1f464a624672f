import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../src/common/clock.js";
import { createAttempts } from "../../src/http/attempts.js";
import { type ManualClock, manualClock } from "../common/manual-clock.js";
import { startService } from "../support/service.js";

const ADDRESS = "192.0.2.7";
const settle = (): Promise<void> => new Promise(setImmediate);

/** What became of an attempt so far. */
const watch = async (attempt: Promise<boolean>) => {
  let state = "held";
  attempt.then(
    (isRight) => {
      state = isRight ? "right" : "wrong";
    },
    ({ code }) => {
      state = code;
    },
  );
  await settle();
  return () => state;
};

const stage = (clock: ManualClock, capacity = 1_000) => {
  const attempts = createAttempts({ clock, capacity });
  return { attempts, guess: (address = ADDRESS) => watch(attempts.check(address, false)) };
};

test("each wrong token is answered later than the one before, at most two seconds", async () => {
  const clock = manualClock();
  const { guess } = stage(clock);
  const waits: number[] = [];
  for (let round = 0; round < 12; round += 1) {
    const state = await guess();
    const begun = clock.now();
    while (state() === "held") {
      clock.advance(25);
      await settle();
    }
    expect(state()).toBe("wrong");
    waits.push(clock.now() - begun);
  }
  expect(waits[0]).toBe(0);
  expect(waits.slice(1)).toEqual(waits.slice(1).toSorted((a, b) => a - b));
  expect(waits.at(-1)).toBe(2_000);
});

test("of 300 guesses at once all but the first few wait two seconds, and the right token passes meanwhile", async () => {
  const clock = manualClock();
  const { attempts, guess } = stage(clock);
  const states = await Promise.all(Array.from({ length: 300 }, () => guess()));
  await expect(attempts.check(ADDRESS, true)).resolves.toBe(true);
  clock.advance(1_999);
  await settle();
  expect(states.filter((state) => state() === "held").length).toBeGreaterThan(290);
  clock.advance(1);
  await settle();
  expect(states.filter((state) => state() === "wrong")).toHaveLength(300);
});

test("of 20,000 guesses at once a thousand wait, whatever their addresses; the right token passes, and later guesses wait again", async () => {
  const clock = manualClock();
  let timers = 0;
  const after: ManualClock["after"] = (ms, run) => {
    timers += 1;
    return clock.after(ms, run);
  };
  const { attempts, guess } = stage({ ...clock, after });
  const states = await Promise.all(Array.from({ length: 20_000 }, (_, at) => guess(`192.0.2.${at % 200}`)));
  expect(timers).toBe(1_000);
  expect(states.filter((state) => state() === "wrong")).toHaveLength(19_000);
  await expect(attempts.check("192.0.2.1", true)).resolves.toBe(true);
  clock.advance(2_000);
  await settle();
  expect(states.filter((state) => state() === "wrong")).toHaveLength(20_000);
  expect((await guess("192.0.2.1"))()).toBe("held");
});

test("wrong tokens are forgotten after a minute", async () => {
  const clock = manualClock();
  const { guess } = stage(clock);
  for (let round = 0; round < 3; round += 1) {
    await guess();
    clock.advance(2_000);
    await settle();
  }
  expect((await guess())()).toBe("held");
  clock.advance(62_000);
  await settle();
  expect((await guess())()).toBe("wrong");
});

test("of many addresses the oldest is forgotten", async () => {
  const { guess } = stage(manualClock(), 2);
  await guess("a");
  await guess("b");
  expect((await guess("a"))()).toBe("held");
  await guess("c");
  expect((await guess("b"))()).toBe("wrong");
});

test.each(["sign-ins", "bearer tokens", "cookies"])(
  "300 wrong %s without a pause are slowed down, and lock out nobody who has the right token",
  async (kind) => {
    const token = "the-token-of-this-service";
    const system = systemClock();
    const hurried: Clock = { ...system, after: (ms, run) => system.after(ms <= 2_000 ? ms / 100 : ms, run) };
    const service = await startService({ flags: { token }, clock: hurried });
    const { port } = new URL(service.url);
    const send = (text: string): Promise<Response> => {
      if (kind === "bearer tokens") return fetch(`${service.url}/jobs`, { headers: { authorization: `Bearer ${text}` } });
      if (kind === "cookies") return fetch(`${service.url}/jobs`, { headers: { cookie: `imprint-${port}=${text}` } });
      const headers = { "content-type": "application/json" };
      return fetch(`${service.url}/sign-in`, { method: "POST", headers, body: JSON.stringify({ token: text }) });
    };
    const guesses = Array.from({ length: 300 }, (_, at) => send(`guess-${at}-of-this-service`));
    await Promise.race(guesses); // the first is answered at once
    expect((await fetch(`${service.url}/jobs`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
    expect(new Set((await Promise.all(guesses)).map(({ status }) => status))).toEqual(new Set([401]));
  },
);

test("requests without a token are no attempts", async () => {
  const service = await startService({ flags: { token: "the-token-of-this-service" } });
  for (let round = 0; round < 30; round += 1) expect((await fetch(`${service.url}/jobs`)).status).toBe(401);
});
