import type { Proof } from "@imprint/contracts";
import { expect, it } from "vitest";
import { proofLines } from "../../src/output/proof.js";

const unpainted = (_style: unknown, text: string): string => text;
const proof: Proof = {
  supervised_tokens: 527,
  loss_before: 2,
  loss_after: 0.1,
  neutral_loss_before: 3,
  neutral_loss_after: 3.03,
  held_out: null,
  keys_expected: 420,
  keys_matched: 420,
  update_norm: 1.2345,
  accepted_by: { peft: true, vllm: true, llama_cpp: false },
  remarks: ["llama.cpp takes no adapter of this rank."],
};

it("says what was learned and forgotten, what matched, and who accepts it", () => {
  expect(proofLines(proof, unpainted)).toEqual([
    "loss on the session        2.000 → 0.100  −95 %  over 527 supervised tokens",
    "loss on a neutral text     3.000 → 3.030  +1.0 %  what was forgotten",
    "tensors matched            420 of 420  norm of the update 1.23",
    "accepted by                PEFT ✓  vLLM ✓  llama.cpp ✗",
    "! llama.cpp takes no adapter of this rank.",
  ]);
});

it("says of an imprint how its update is scaled and how much of the session was read", () => {
  const imprint: NonNullable<Proof["imprint"]> = {
    scale: 0.35,
    calibration: { helps: true, tried: [{ scale: 0.35, loss: 1.9, neutral: [{ name: "mixed", loss: 3.03 }] }] },
    coverage: {
      characters: 1000,
      characters_read: 250,
      kinds: [{ kind: "user", characters: 1000, characters_read: 250 }],
      tokens: 60,
      chunks: 1,
    },
    neutral: [{ name: "mixed", loss_before: 3, loss_after: 3.03 }],
  };
  expect(proofLines({ ...proof, imprint }, unpainted).slice(3, 5)).toEqual([
    "scale of the update        0.35, chosen of 1 that were tried",
    "read of the session        25 % of 1000 characters (user 25 %), as 60 tokens in 1 chunks",
  ]);
});

it.each([
  [[-0.2, -0.05], "green", "−0.200 to −0.050"],
  [[-0.2, 0.05], "yellow", "−0.200 to +0.050"],
  [[0.05, 0.2], "red", "+0.050 to +0.200"],
] as const)("says what happened to held-out text, and how sure that is: %j", (interval, colour, sure) => {
  const held: Proof = { ...proof, held_out: { tokens: 900, loss_before: 2, loss_after: 1.9, interval: [...interval] } };
  expect(proofLines(held, unpainted)[2]).toBe(
    `loss on held-out text      2.000 → 1.900  −5.0 %  ${sure}, over 900 tokens that it was not trained on`,
  );
  expect(proofLines(held, (style, text) => `<${String(style)}>${text}`)[2]).toContain(`<${colour}>−5.0 %`);
});

it("shows no tick of an adapter that is worse on held-out text", () => {
  const held_out = { tokens: 900, loss_before: 2, loss_after: 2.2, interval: [0.05, 0.2] as [number, number] };
  expect(proofLines({ ...proof, held_out }, unpainted)).toContain("accepted by                PEFT  vLLM  llama.cpp ✗");
});

it.each([
  [{ loss_after: 2.5 }, "✗ It makes the model worse on its own text."],
  [{ neutral_loss_after: 4 }, "✗ It costs neutral text more than 10 %."],
])("shows neither a tick nor green of an adapter that harms: %j", (changes, first) => {
  const harmful = { ...proof, accepted_by: { peft: true, vllm: true, llama_cpp: true }, ...changes };
  expect(proofLines(harmful, unpainted)[0]).toBe(first);
  expect(proofLines(harmful, unpainted).join()).not.toContain("✓");
  expect(proofLines(harmful, unpainted)).toContain("accepted by                PEFT  vLLM  llama.cpp");
  const styles: unknown[] = [];
  proofLines(harmful, (style, text) => {
    styles.push(style);
    return text;
  });
  expect(styles).not.toContain("green");
});
