import { getEventListeners, once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { joinSignals, withSignals } from "../src/index.js";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** Until what nothing holds is gone: what a turn has looked at through a WeakRef lives on until the turn is over. */
const collectAll = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
};

it("aborts with the reason of the first, once, and at once where one has aborted", () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const { signal } = joinSignals([undefined, one.signal, other.signal]);
  other.abort("the other");
  one.abort("the one");
  expect(signal.reason).toBe("the other");
  expect(joinSignals([new AbortController().signal, one.signal]).signal.reason).toBe("the one");
});

it("aborts by a time limit that nobody else holds through a garbage collection", async () => {
  const { signal } = joinSignals([new AbortController().signal, AbortSignal.timeout(300)]);
  await collectAll();
  if (!signal.aborted) await once(signal, "abort");
  expect(signal.reason).toMatchObject({ name: "TimeoutError" });
});

it("takes one listener of a signal, however many wait for it, and none once nobody does", () => {
  const living = new AbortController();
  const joined = Array.from({ length: 20 }, () => joinSignals([living.signal]));
  expect(getEventListeners(living.signal, "abort")).toHaveLength(1);
  for (const { release } of joined.slice(1)) release();
  living.abort("over");
  expect(joined.map(({ signal }) => signal.reason)).toEqual(["over", ...Array(19).fill(undefined)]);
  expect(getEventListeners(living.signal, "abort")).toEqual([]);
});

it("is let go with its work, however that ends, by a signal that lives on", async () => {
  const living = new AbortController();
  const joined: WeakRef<AbortSignal>[] = [];
  const work = async (signal: AbortSignal): Promise<void> => {
    signal.addEventListener("abort", () => {});
    joined.push(new WeakRef(signal));
    if (joined.length === 2) throw new Error("no");
  };
  await withSignals([living.signal], work);
  await withSignals([living.signal], work).catch(() => undefined);
  await collectAll();
  expect(joined.map((one) => one.deref())).toEqual([undefined, undefined]);
  expect(living.signal.aborted).toBe(false);
});
