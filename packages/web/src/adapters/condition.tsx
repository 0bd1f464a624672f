import { type Adapter, conditionOf } from "@imprint/contracts";

export function Condition({ adapter }: { readonly adapter: Adapter }) {
  const condition = conditionOf(adapter);
  return (
    <span className="chip" data-tone={condition === "ok" ? "good" : "bad"}>
      {condition}
    </span>
  );
}
