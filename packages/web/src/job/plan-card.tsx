import type { TrainingPlan } from "@imprint/contracts";
import { heldOutText } from "../text/held-out.js";
import { count, short } from "../text/numbers.js";
import { Card } from "../ui/card.js";
import { Facts } from "../ui/facts.js";
import { LeftOutAndChanged } from "../ui/left-out-and-changed.js";
import { Memory } from "../ui/memory.js";
import { Remarks } from "../ui/page.jsx";

export function PlanCard({ plan }: { readonly plan: TrainingPlan }) {
  return (
    <Card title="Plan">
      <Facts
        facts={[
          ["Windows", `${plan.windows} of at most ${count(plan.max_length, "token")}`],
          ["Tokens", `${plan.tokens.toLocaleString("en")}, ${plan.supervised_tokens.toLocaleString("en")} supervised`],
          ["Supervised turns", plan.supervised_turns],
          ["Steps", `at most ${plan.max_steps.toLocaleString("en")}, ${count(plan.accumulation, "window")} each`],
          ["Epochs", plan.epochs ?? "until the loss stops improving"],
          ["Learning rate", short(plan.learning_rate)],
          ["Rank, alpha", `${plan.rank}, ${plan.alpha}`],
          ["Quantisation", plan.quantization],
          ["Seed", <code key="seed">{plan.seed}</code>],
          ["Layers", plan.target_modules.join(", ")],
          ["Held out", heldOutText(plan.held_out)],
        ]}
      />
      <Remarks remarks={plan.remarks} />
      <Memory memory={plan.memory} />
      <LeftOutAndChanged counts={plan} />
    </Card>
  );
}
