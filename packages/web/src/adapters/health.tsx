import type { AdapterHealth } from "@imprint/contracts";

export function Health({ health }: { readonly health: AdapterHealth }) {
  return (
    <span className="chip" data-tone={health === "ok" ? "good" : "bad"}>
      {health}
    </span>
  );
}
