import type { Proof } from "@imprint/contracts";
import { change, count, short } from "../text/numbers.js";
import { verdictOf } from "../text/verdict.js";
import { Card } from "../ui/card.js";
import { Facts } from "../ui/facts.js";

const CONSUMERS = [
  ["PEFT", "peft"],
  ["vLLM", "vllm"],
  ["llama.cpp", "llama_cpp"],
] as const;

/** The evidence, taken from the adapter as it was reloaded from disk, led by a verdict. */
export function ProofCard({ proof }: { readonly proof: Proof }) {
  const { tone, sentence } = verdictOf(proof);
  const fell = (before: number, after: number): string => `${short(before)} → ${short(after)}  (${change(before, after)})`;
  return (
    <Card title="Proof" tone={tone}>
      <p className="verdict">{sentence}</p>
      <Facts
        facts={[
          [
            "Loss on the session",
            `${fell(proof.loss_before, proof.loss_after)} over ${count(proof.supervised_tokens, "supervised token")}`,
          ],
          ["Loss on a neutral text", fell(proof.neutral_loss_before, proof.neutral_loss_after)],
          ["Tensors matched", `${proof.keys_matched} of ${proof.keys_expected}`],
          ["Norm of the update", short(proof.update_norm)],
          [
            "Accepted by",
            <span key="accepted" className="chips">
              {CONSUMERS.map(([name, key]) => (
                <span key={key} className="chip" data-tone={proof.accepted_by[key] ? "good" : "bad"}>
                  {name} {proof.accepted_by[key] ? "✓" : "✗"}
                </span>
              ))}
            </span>,
          ],
        ]}
      />
      {proof.remarks.length > 0 && (
        <ul>
          {proof.remarks.map((remark) => (
            <li key={remark}>{remark}</li>
          ))}
        </ul>
      )}
    </Card>
  );
}
