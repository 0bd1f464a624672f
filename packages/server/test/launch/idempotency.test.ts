import { expect, test, vi } from "vitest";
import { createIdempotency } from "../../src/launch/idempotency.js";

const call = (key: string, body: unknown = { a: 1, b: [1, 2] }, path = "/train/lora") => ({ key, path, body });
const answering = (answer: string) => vi.fn(async () => answer);

test("the same body gets the first answer, whatever the order of its keys, and nothing is done again", async () => {
  const { once } = createIdempotency({ capacity: 2 });
  expect(await once(call("k"), answering("j1"))).toBe("j1");
  const again = answering("j2");
  expect(await once(call("k", { b: [1, 2], a: 1 }), again)).toBe("j1");
  expect(again).not.toHaveBeenCalled();
  expect([await once(call("other"), answering("j3")), await once(null, answering("j4"))]).toEqual(["j3", "j4"]);
});

test("a repeat that comes while the first is under way waits for its answer", async () => {
  const { once } = createIdempotency({ capacity: 2 });
  let finish = (_answer: string): void => {};
  const first = once(call("k"), () => new Promise<string>((resolve) => (finish = resolve)));
  const repeat = once(call("k"), answering("j2"));
  finish("j1");
  expect(await Promise.all([first, repeat])).toEqual(["j1", "j1"]);
});

test("what failed is forgotten: of two repeats that waited one does it, and the other gets its answer", async () => {
  const { once } = createIdempotency({ capacity: 2 });
  const failing = once(call("k"), () => Promise.reject(new Error("gone")));
  const work = answering("j2");
  const repeats = [once(call("k"), work), once(call("k"), work)];
  await expect(failing).rejects.toThrow("gone");
  expect(await Promise.all(repeats)).toEqual(["j2", "j2"]);
  expect(work).toHaveBeenCalledTimes(1);
});

test.each([
  ["another value", call("k", { a: 1, b: [1, 3] })],
  ["another order in a list", call("k", { a: 1, b: [2, 1] })],
  ["another call", call("k", { a: 1, b: [1, 2] }, "/train/hypernetwork")],
])("%s under the same key is refused", async (_case, other) => {
  const { once } = createIdempotency({ capacity: 2 });
  await once(call("k"), answering("j1"));
  await expect(once(other, answering("j2"))).rejects.toMatchObject({ code: "IDEMPOTENCY_CONFLICT" });
});

test("the oldest key is forgotten beyond the capacity", async () => {
  const { once } = createIdempotency({ capacity: 2 });
  for (const key of ["k1", "k2", "k3"]) await once(call(key), answering(key));
  expect(await Promise.all(["k3", "k2"].map((key) => once(call(key), answering("new"))))).toEqual(["k3", "k2"]);
  expect(await once(call("k1"), answering("new"))).toBe("new");
});
