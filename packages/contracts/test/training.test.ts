import {
  LORA_DEFAULTS,
  PROFILES,
  PreviewRequest,
  SkippedSession,
  TrainHypernetworkRequest,
  TrainLoraPreviewRequest,
  TrainLoraRequest,
} from "@imprint/contracts";
import { Compile } from "typebox/compile";
import { describe, expect, it } from "vitest";

const lora = Compile(TrainLoraRequest);
const hypernetwork = Compile(TrainHypernetworkRequest);

describe("TrainLoraRequest", () => {
  it("needs nothing but a session", () => expect(lora.Check({ session_id: "s1" })).toBe(true));

  it.each([
    [{}],
    [{ session_id: 1 }],
    [{ session_id: "s1", epochs: "3" }],
    [{ session_id: "s1", epochs: 0 }],
    [{ session_id: "s1", epochs: 101 }],
    [{ session_id: "s1", epochs: 1.5 }],
    [{ session_id: "s1", rank: 257 }],
    [{ session_id: "s1", learning_rate: 0 }],
    [{ session_id: "s1", learning_rate: 0.11 }],
    [{ session_id: "s1", learning_rate: Number.NaN }],
    [{ session_id: "s1", learning_rate: Number.POSITIVE_INFINITY }],
    [{ session_id: "s1", metadata: { a: 1 } }],
    [{ session_id: "s1", metadata: { "": "x" } }],
    [{ session_id: "s1", learningRate: 0.1 }],
    [{ session_id: "s1", target_modules: [] }],
    [{ session_id: "s1", session_ids: ["s1"] }],
    [{ session_ids: [] }],
    [{ session_ids: ["s1", "s1"] }],
    [{ session_id: "s1", profile: "forget" }],
    [{ session_id: "s1", max_length: "long" }],
    [{ session_id: "s1", holdout: "all" }],
    [{ session_id: "s1", holdout: 0 }],
    [{ session_id: "s1", holdout: 0.51 }],
    [{ session_ids: ["s1", "s2"], holdout: [] }],
    [{ session_ids: ["s1", "s2"], holdout: ["s1", "s1"] }],
    [{ session_id: "s1", train_on: "none" }],
    [{ session_id: "s1", train_on: { turns: [] } }],
    [{ session_id: "s1", train_on: { turns: [-1] } }],
    [{ session_ids: ["s1", "s2"], skip_invalid: "yes" }],
  ])("refuses %j", (body) => expect(lora.Check(body)).toBe(false));

  it.each(["all", "successful_steps", "final_answer", { turns: [1, 3] }])("takes several sessions and train_on %j", (train_on) =>
    expect(lora.Check({ session_ids: ["s1", "s2"], train_on })).toBe(true),
  );

  it.each(["auto", "none", 0.5, ["s1"]])("takes holdout %j, as its previews do", (holdout) => {
    const body = { session_ids: ["s1", "s2"], holdout, profile: "learn", max_length: "auto" };
    expect([lora.Check(body), Compile(TrainLoraPreviewRequest).Check(body)]).toEqual([true, true]);
  });

  it("previews take skip_invalid as trainings do", () => {
    const body = { session_ids: ["s1", "s2"], skip_invalid: false };
    expect([lora.Check(body), Compile(TrainLoraPreviewRequest).Check(body)]).toEqual([true, true]);
    expect(Compile(PreviewRequest).Check({ skip_invalid: true })).toBe(true);
  });

  it("accepts the defaults it documents", () => {
    const { alpha_per_rank: _derived, ...defaults } = LORA_DEFAULTS;
    for (const profile of Object.values(PROFILES))
      expect(lora.Check({ session_id: "s1", max_length: "auto", ...defaults, ...profile })).toBe(true);
  });
});

describe("TrainHypernetworkRequest", () => {
  it("needs at least one trajectory", () => {
    expect(hypernetwork.Check({ trajectory_ids: [] })).toBe(false);
    expect(hypernetwork.Check({ trajectory_ids: ["a"] })).toBe(true);
  });
});

describe("SkippedSession", () => {
  const skipped = Compile(SkippedSession);
  const one = { session_id: "s1", code: "NOTHING_TO_TRAIN", message: "It says nothing." };

  it("names a session and a reason of the catalogue", () => expect(skipped.Check(one)).toBe(true));

  it.each([
    [{ ...one, code: "BORED" }],
    [{ ...one, session_id: "../s1" }],
    [{ ...one, title: "t" }],
    [{ session_id: "s1", code: one.code }],
  ])("refuses %j", (value) => expect(skipped.Check(value)).toBe(false));
});
