import { expect, test } from "vitest";
import { ProblemError } from "../../src/common/error.js";
import { createIdempotency } from "../../src/launch/idempotency.js";

const call = (key: string, body: unknown = { a: 1, b: [1, 2] }, path = "/train/lora") => ({ key, path, body });

test("the same body finds the job, whatever the order of its keys", () => {
  const idempotency = createIdempotency({ capacity: 2 });
  idempotency.remember(call("k"), "j1");
  expect(idempotency.find(call("k", { b: [1, 2], a: 1 }))).toBe("j1");
  expect(idempotency.find(call("other"))).toBeNull();
});

test.each([
  ["another value", call("k", { a: 1, b: [1, 3] })],
  ["another order in a list", call("k", { a: 1, b: [2, 1] })],
  ["another call", call("k", { a: 1, b: [1, 2] }, "/train/hypernetwork")],
])("%s under the same key is refused", (_case, other) => {
  const idempotency = createIdempotency({ capacity: 2 });
  idempotency.remember(call("k"), "j1");
  expect(() => idempotency.find(other)).toThrow(ProblemError);
});

test("the oldest key is forgotten beyond the capacity", () => {
  const idempotency = createIdempotency({ capacity: 2 });
  for (const key of ["k1", "k2", "k3"]) idempotency.remember(call(key), key);
  expect([idempotency.find(call("k1")), idempotency.find(call("k2")), idempotency.find(call("k3"))]).toEqual([null, "k2", "k3"]);
});
