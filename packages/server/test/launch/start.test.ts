import type { FastifyRequest } from "fastify";
import { expect, test } from "vitest";
import { ImprintError } from "../../src/common/error.js";
import { callOf, checkHoldout, checkResumeFields, checkTurns, checkWindow, ofField } from "../../src/launch/start.js";

/** What is said of a field that is refused: null when it is taken. */
const saidOf = (act: () => unknown): unknown => {
  try {
    act();
  } catch (error) {
    return (error as { errors?: unknown }).errors ?? error;
  }
  return null;
};

const window = (most: number) => [
  { path: "/window", message: `must be at most ${most}, the number of windows that these sessions make` },
];

test.each([
  [null, 0, null],
  [1, 1, null],
  [3, 3, null],
  [2, 3, null],
  [4, 3, window(3)],
  [1, 0, window(0)],
])("window %j of %i", (given, windows, said) => {
  expect(saidOf(() => checkWindow(given, windows))).toEqual(said);
});

test.each([
  ["one session", { turns: [1] }, ["a"], false],
  ["no session named", { turns: [1] }, undefined, false],
  ["several, by a word", "successful_steps", ["a", "b"], false],
  ["several sessions", { turns: [1] }, ["a", "b"], true],
] as const)("turns of %s", (_what, train_on, ids, refused) => {
  const session_ids = ids === undefined ? {} : { session_ids: [...ids] };
  const said = saidOf(() => checkTurns({ train_on, ...session_ids } as never));
  expect(said).toEqual(
    refused ? [{ path: "/train_on", message: expect.stringContaining("takes turns of one session only") }] : null,
  );
});

const outside = "must name sessions of the training: add them to session_ids";
const nothing = "leaves no session to train on: name fewer";
test.each([
  [undefined, ["a"], null],
  ["auto", ["a"], null],
  [0.2, ["a"], null],
  [["b"], ["a", "b"], null],
  [["c"], ["a", "b"], outside],
  [["b", "c"], ["a", "b"], outside],
  [["a", "b"], ["a", "b"], nothing],
])("a holdout of %j", (holdout, sessionIds, message) => {
  expect(saidOf(() => checkHoldout(holdout as never, sessionIds))).toEqual(message && [{ path: "/holdout", message }]);
});

test("what a field asks for is refused by its name with the hint; a fault of ours stays one", () => {
  const missing = () => {
    throw new ImprintError("SESSION_NOT_FOUND", "There is no session x.");
  };
  expect(() => ofField("session_id", missing)).toThrow(/^Field session_id: There is no session x\. \S/);
  expect(saidOf(() => ofField("session_id", missing))).toEqual([{ path: "/session_id", message: "There is no session x." }]);
  const fault = new Error("ours");
  expect(
    saidOf(() =>
      ofField("session_id", () => {
        throw fault;
      }),
    ),
  ).toBe(fault);
  expect(ofField("session_id", () => 7)).toBe(7);
});

test("beside resume_from each field that changes numbers is named, and a name for the adapter is none", () => {
  expect(saidOf(() => checkResumeFields({ resume_from: "j", adapter_id: "a" }))).toBeNull();
  const fields = (
    saidOf(() => checkResumeFields({ resume_from: "j", rank: 8, seed: 1 })) as { path: string; message: string }[]
  ).map(({ path, message }) => [path, message.split(":")[0]]);
  expect(fields).toEqual(["/rank", "/seed"].map((path) => [path, "cannot stand beside resume_from"]));
});

const requestOf = (key: unknown) =>
  ({ headers: key === undefined ? {} : { "idempotency-key": key }, url: "/train/lora", body: { rank: 8 } }) as FastifyRequest;

test("a key stands for the call with its path and body; without one a call stands for nothing", () => {
  expect(callOf(requestOf(undefined))).toBeNull();
  for (const key of ["k", "!".repeat(255), "~"])
    expect(callOf(requestOf(key))).toEqual({ key, path: "/train/lora", body: { rank: 8 } });
});

test.each([[""], ["a b"], ["é"], ["k".repeat(256)], ["k\n"], [["a", "b"]]])(
  "the key %j is refused by the name of its header",
  (key) => {
    const message = "must be 1 to 255 visible ASCII characters";
    expect(saidOf(() => callOf(requestOf(key)))).toEqual([{ path: "/headers/idempotency-key", message }]);
  },
);
