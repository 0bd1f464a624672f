import { change, coverageText, isWorse, type Proof, scaleText } from "@imprint/contracts";
import { heldOutChange } from "../text/held-out.js";
import { count, short } from "../text/numbers.js";
import { sentenceOf, toneOf } from "../text/verdict.js";
import { Card } from "../ui/card.js";
import { Facts } from "../ui/facts.js";

const CONSUMERS = [
  ["PEFT", "peft"],
  ["vLLM", "vllm"],
  ["llama.cpp", "llama_cpp"],
] as const;

/** The evidence, taken from the adapter as it was reloaded from disk, led by a verdict: no tick where the model got worse. */
export function ProofCard({ proof }: { readonly proof: Proof }) {
  const tone = toneOf(proof);
  const isGood = tone !== "bad" && !isWorse(proof);
  const fell = (before: number, after: number): string => `${short(before)} → ${short(after)}  (${change(before, after)})`;
  return (
    <Card title="Proof" tone={tone}>
      <p className="verdict">{sentenceOf(proof)}</p>
      <Facts
        facts={[
          [
            "Loss on the session",
            `${fell(proof.loss_before, proof.loss_after)} over ${count(proof.supervised_tokens, "supervised token")}`,
          ],
          ["Loss on held-out text", proof.held_out && heldOutChange(proof.held_out)],
          ["Loss on a neutral text", fell(proof.neutral_loss_before, proof.neutral_loss_after)],
          ["Scale of the update", proof.imprint && scaleText(proof.imprint)],
          ["Read of the session", proof.imprint && coverageText(proof.imprint)],
          ["Tensors matched", `${proof.keys_matched} of ${proof.keys_expected}`],
          ["Norm of the update", short(proof.update_norm)],
          [
            "Accepted by",
            <span key="accepted" className="chips">
              {CONSUMERS.map(([name, key]) => (
                <span key={key} className="chip" data-tone={!proof.accepted_by[key] ? "bad" : isGood ? "good" : undefined}>
                  {name} {!proof.accepted_by[key] ? "✗" : isGood ? "✓" : ""}
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
