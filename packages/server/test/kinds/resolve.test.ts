import { AdapterId } from "@imprint/contracts";
import { matches } from "@imprint/contracts/fields";
import fc from "fast-check";
import { expect, test } from "vitest";
import { makeAdapterId, resolveHypernetwork, resolveLora } from "../../src/kinds/resolve.js";

const defaults = { baseModel: "base", random: { seed: () => 7, suffix: () => "0a1b2c3d" } };

test("what a LoRA request leaves out is decided", () => {
  expect(resolveLora({ session_id: "S.1" }, defaults)).toEqual({
    session_id: "S.1",
    session_ids: ["S.1"],
    task_type: "code-gen",
    adapter_id: "code-gen-s-1-0a1b2c3d",
    base_model: "base",
    seed: 7,
    metadata: {},
    keep_harmful: false,
    include_unsuccessful: false,
    skip_invalid: false,
    epochs: null,
    within: null,
    rank: 16,
    alpha: 32,
    profile: "remember",
    holdout: "none",
    learning_rate: null,
    max_length: null,
    train_on: "all",
    reasoning: false,
    target_modules: null,
    quantization: "nf4",
  });
});

test("what a request says is taken as it is, also a zero", () => {
  const request = { session_id: "s", adapter_id: "a", seed: 0, rank: 8, base_model: "b", metadata: { k: "v" }, epochs: 3 };
  expect(resolveLora(request, defaults)).toMatchObject({ ...request, alpha: 16 });
});

test("several sessions are learned from for other work, unless the request says otherwise", () => {
  const several = { session_ids: ["a", "b"] };
  const learn = { profile: "learn", holdout: "auto", train_on: "successful_steps" };
  expect(resolveLora(several, defaults)).toMatchObject(learn);
  expect(resolveLora({ session_id: "s", profile: "learn" }, defaults)).toMatchObject(learn);
  const asked = { profile: "remember", holdout: 0.25, learning_rate: 2e-4, max_length: 512 } as const;
  expect(resolveLora({ ...several, ...asked }, defaults)).toMatchObject(asked);
});

test("of several sessions the first gives the adapter its id, and all are kept in order", () => {
  expect(resolveLora({ session_ids: ["b", "a"] }, defaults)).toMatchObject({
    session_id: "b",
    session_ids: ["b", "a"],
    adapter_id: "code-gen-b-0a1b2c3d",
  });
});

test("only the first trajectory is used", () => {
  expect(resolveHypernetwork({ trajectory_ids: ["t1", "t2"] }, defaults)).toMatchObject({
    session_id: "t1",
    session_ids: ["t1"],
    scaling: null,
    max_chunks: 16,
    compress_rank: null,
  });
});

test("an adapter id that is made up is always an adapter id, and ends in the suffix", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (taskType, sessionId) => {
      const id = makeAdapterId({ taskType, sessionId, suffix: "0a1b2c3d" });
      expect(matches(AdapterId, id)).toBe(true);
      expect(id.endsWith("0a1b2c3d")).toBe(true);
    }),
  );
});
