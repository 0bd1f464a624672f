import { type Adapter, conditionOf } from "@imprint/contracts";

export function Condition({ adapter }: { readonly adapter: Adapter }) {
  const condition = conditionOf(adapter);
  const isGood = condition === "ok" && adapter.evaluation?.verdict !== "harms";
  return (
    <span className="chip" data-tone={isGood ? "good" : condition === "ok" ? undefined : "bad"}>
      {condition}
    </span>
  );
}
