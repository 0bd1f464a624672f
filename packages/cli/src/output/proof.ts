import { change, harmsOf, type Proof, verdictOf } from "@imprint/contracts";
import type { Paint } from "./paint.js";
import { count, plain } from "./text.js";

const CONSUMERS = [
  ["PEFT", "peft"],
  ["vLLM", "vllm"],
  ["llama.cpp", "llama_cpp"],
] as const;

const STYLES = { learned: "green", hardly_learned: "yellow", harms: "red" } as const;

const loss = (value: number): string => value.toFixed(3);

/** The evidence of what an adapter does, one line each: no tick and no green where it harms. Taken by the trainer from the adapter as it was reloaded from disk. */
export function proofLines(proof: Proof, paint: Paint): string[] {
  const verdict = verdictOf(proof);
  const harms = verdict === "harms";
  const complete = proof.keys_matched === proof.keys_expected;
  const accepted = CONSUMERS.map(([name, key]) =>
    proof.accepted_by[key] ? (harms ? name : paint("green", `${name} ✓`)) : paint("red", `${name} ✗`),
  );
  const row = (name: string, before: number, after: number, style: (typeof STYLES)[keyof typeof STYLES]): string =>
    `${name}  ${loss(before)} → ${paint("bold", loss(after))}  ${paint(style, change(before, after))}`;
  const matched = `${proof.keys_matched} of ${proof.keys_expected}`;
  return [
    ...(harms ? [paint("red", `✗ It ${harmsOf(proof).join(" and ")}.`)] : []),
    `${row("loss on the session      ", proof.loss_before, proof.loss_after, STYLES[verdict])}  ${paint("dim", `over ${count(proof.supervised_tokens, "supervised token")}`)}`,
    `${row("loss on a neutral text   ", proof.neutral_loss_before, proof.neutral_loss_after, harms ? "red" : "yellow")}  ${paint("dim", "what was forgotten")}`,
    `tensors matched            ${complete && harms ? matched : paint(complete ? "green" : "red", matched)}  ${paint("dim", `norm of the update ${proof.update_norm.toPrecision(3)}`)}`,
    `accepted by                ${accepted.join("  ")}`,
    ...proof.remarks.map((remark) => paint("yellow", `! ${plain(remark)}`)),
  ];
}
