import type { Evaluation, ProjectFigures } from "@imprint/contracts";

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** What a project keeps of an evaluation; null where it lacks the rows. */
export const figuresOf = ({ rows, neutral }: Evaluation): ProjectFigures | null => {
  const [base, adapter, control] = (["base", "adapter", "control"] as const).map((name) => rows.find(({ row }) => row === name));
  if (!base || !adapter || adapter.change === null) return null;
  const [before, after] = [mean(neutral.map((one) => one.loss_before)), mean(neutral.map((one) => one.loss_after))];
  return {
    tokens: adapter.tokens,
    base_loss: base.loss,
    loss: adapter.loss,
    change: adapter.change,
    interval: adapter.interval,
    neutral_change: neutral.length === 0 || before === 0 ? 0 : after / before - 1,
    before:
      control?.adapter_id && control.change !== null
        ? { adapter_id: control.adapter_id, change: control.change, interval: control.interval }
        : null,
  };
};
