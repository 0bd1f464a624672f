import { change, coverageText, harmsOf, isWorse, type Proof, scaleText, verdictOf } from "@imprint/contracts";
import type { Paint } from "./paint.js";
import { count, plain } from "./text.js";

const CONSUMERS = [
  ["PEFT", "peft"],
  ["vLLM", "vllm"],
  ["llama.cpp", "llama_cpp"],
] as const;

const STYLES = { learned: "green", hardly_learned: "yellow", harms: "red" } as const;

const signed = (value: number): string => `${value < 0 ? "−" : "+"}${loss(Math.abs(value))}`;

const loss = (value: number): string => value.toFixed(3);

type Style = (typeof STYLES)[keyof typeof STYLES];

/** What the adapter does to text that was held out: green or red only where the whole interval says so. */
function heldOutLines(
  { held_out }: Proof,
  row: (held: NonNullable<Proof["held_out"]>, style: Style) => string,
): readonly (readonly [figures: string, sure: string])[] {
  if (held_out === null) return [];
  const [low, high] = held_out.interval;
  const style = high < 0 ? "green" : low > 0 ? "red" : "yellow";
  const sure = `${signed(low)} to ${signed(high)}, over ${count(held_out.tokens, "token")} that it was not trained on`;
  return [[row(held_out, style), sure]];
}

/** The evidence of what an adapter does, one line each: no tick where the model got worse, and no green where it harms. Taken by the trainer from the adapter as it was reloaded from disk. */
export function proofLines(proof: Proof, paint: Paint): string[] {
  const verdict = verdictOf(proof);
  const harms = verdict === "harms";
  const worse = isWorse(proof);
  const complete = proof.keys_matched === proof.keys_expected;
  const accepted = CONSUMERS.map(([name, key]) =>
    proof.accepted_by[key] ? (worse ? name : paint("green", `${name} ✓`)) : paint("red", `${name} ✗`),
  );
  const row = (name: string, before: number, after: number, style: Style): string =>
    `${name}  ${loss(before)} → ${paint("bold", loss(after))}  ${paint(style, change(before, after))}`;
  const matched = `${proof.keys_matched} of ${proof.keys_expected}`;
  return [
    ...(harms ? [paint("red", `✗ It ${harmsOf(proof).join(" and ")}.`)] : []),
    `${row("loss on the session      ", proof.loss_before, proof.loss_after, STYLES[verdict])}  ${paint("dim", `over ${count(proof.supervised_tokens, "supervised token")}`)}`,
    `${row("loss on a neutral text   ", proof.neutral_loss_before, proof.neutral_loss_after, harms ? "red" : "yellow")}  ${paint("dim", "what was forgotten")}`,
    ...heldOutLines(proof, (held, style) => row("loss on held-out text    ", held.loss_before, held.loss_after, style)).map(
      ([figures, sure]) => `${figures}  ${paint("dim", sure)}`,
    ),
    `tensors matched            ${complete && harms ? matched : paint(complete ? "green" : "red", matched)}  ${paint("dim", `norm of the update ${proof.update_norm.toPrecision(3)}`)}`,
    ...(proof.imprint === undefined
      ? []
      : [
          `scale of the update        ${plain(scaleText(proof.imprint))}`,
          `read of the session        ${plain(coverageText(proof.imprint))}`,
        ]),
    `accepted by                ${accepted.join("  ")}`,
    ...proof.remarks.map((remark) => paint("yellow", `! ${plain(remark)}`)),
  ];
}
