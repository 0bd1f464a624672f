import type { JobDetails, Proof } from "@imprint/contracts";
import { expect, it } from "vitest";
import { outcome } from "../../src/watch/outcome.js";
import { job } from "./job.js";

const unpainted = (_style: unknown, text: string): string => text;

const tried = [
  { scale: 1, loss: null, neutral: [{ name: "mixed", loss: 3.9 }] },
  { scale: 0.35, loss: 1.9, neutral: [{ name: "mixed", loss: 3.03 }] },
];

const proof: Proof = {
  supervised_tokens: 527,
  loss_before: 2,
  loss_after: 1.9,
  neutral_loss_before: 3,
  neutral_loss_after: 3.03,
  held_out: null,
  keys_expected: 14,
  keys_matched: 14,
  update_norm: 1.2345,
  accepted_by: { peft: true, vllm: true, llama_cpp: true },
  remarks: [],
  imprint: {
    scale: 0.35,
    calibration: { helps: true, tried },
    coverage: {
      characters: 1000,
      characters_read: 250,
      kinds: [{ kind: "user", characters: 1000, characters_read: 250 }],
      tokens: 60,
      chunks: 1,
    },
    neutral: [{ name: "mixed", loss_before: 3, loss_after: 3.03 }],
  },
};

const imprint = (changes: Partial<JobDetails>): string =>
  outcome(job({ kind: "hypernetwork", adapter_id: "mine", proof, ...changes }), unpainted, "imprint");

/** At the smallest scale, no better than the base. */
const helpless: Proof = {
  ...proof,
  loss_after: 2.1,
  imprint: { ...(proof.imprint as NonNullable<Proof["imprint"]>), scale: 0.12, calibration: { helps: false, tried } },
};

it("says of a calibrated imprint at which scale it is applied and how much was read", () => {
  const text = imprint({ status: "completed" });
  expect(text).toMatch(/^✓ mine is ready/);
  expect(text).toContain("0.35, chosen of 2 that were tried");
  expect(text).toContain("25 % of 1000 characters");
});

it("says of a refused imprint why, with the figures and without a tick", () => {
  const error = {
    code: "ADAPTER_HARMS",
    message: "The adapter makes the model worse on its own text.",
    hint: "Train a LoRA.",
  } as const;
  const text = imprint({ status: "failed", adapter_id: null, proof: helpless, error });
  expect(text).toMatch(/^✗ Job \w+ failed: .+ \(ADAPTER_HARMS\)/);
  expect(text).toContain("0.12, the smallest: it helps at none of 2");
  expect(text).toContain("2.000 → 2.100");
  expect(text).not.toContain("✓");
});

it("says of one that was kept although it harms that it does, without a tick", () => {
  const text = imprint({ status: "completed", proof: helpless });
  expect(text).toMatch(/^! mine is kept although it harms/);
  expect(text).not.toContain("✓");
});
