import type { Proof } from "@imprint/contracts";
import type { Paint } from "./paint.js";
import { change, count, plain } from "./text.js";

const CONSUMERS = [
  ["PEFT", "peft"],
  ["vLLM", "vllm"],
  ["llama.cpp", "llama_cpp"],
] as const;

const loss = (value: number): string => value.toFixed(3);

/** The evidence that an adapter learned, one line each. Taken by the trainer from the adapter as it was reloaded from disk. */
export function proofLines(proof: Proof, paint: Paint): string[] {
  const learned = proof.loss_after < proof.loss_before;
  const complete = proof.keys_matched === proof.keys_expected;
  const accepted = CONSUMERS.map(([name, key]) =>
    proof.accepted_by[key] ? paint("green", `${name} ✓`) : paint("red", `${name} ✗`),
  );
  const row = (name: string, before: number, after: number, style: "green" | "yellow"): string =>
    `${name}  ${loss(before)} → ${paint("bold", loss(after))}  ${paint(style, change(before, after))}`;
  return [
    `${row("loss on the session      ", proof.loss_before, proof.loss_after, learned ? "green" : "yellow")}  ${paint("dim", `over ${count(proof.supervised_tokens, "supervised token")}`)}`,
    `${row("loss on a neutral text   ", proof.neutral_loss_before, proof.neutral_loss_after, "yellow")}  ${paint("dim", "what was forgotten")}`,
    `tensors matched            ${paint(complete ? "green" : "red", `${proof.keys_matched} of ${proof.keys_expected}`)}  ${paint("dim", `norm of the update ${proof.update_norm.toPrecision(3)}`)}`,
    `accepted by                ${accepted.join("  ")}`,
    ...proof.remarks.map((remark) => paint("yellow", `! ${plain(remark)}`)),
  ];
}
