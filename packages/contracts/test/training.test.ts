import { LORA_DEFAULTS, TrainHypernetworkRequest, TrainLoraRequest } from "@imprint/contracts";
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
  ])("refuses %j", (body) => expect(lora.Check(body)).toBe(false));

  it("accepts the defaults it documents", () => {
    const { rank, learning_rate, max_length, quantization, task_type } = LORA_DEFAULTS;
    expect(lora.Check({ session_id: "s1", rank, learning_rate, max_length, quantization, task_type })).toBe(true);
  });
});

describe("TrainHypernetworkRequest", () => {
  it("needs at least one trajectory", () => {
    expect(hypernetwork.Check({ trajectory_ids: [] })).toBe(false);
    expect(hypernetwork.Check({ trajectory_ids: ["a"] })).toBe(true);
  });
});
