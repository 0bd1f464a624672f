import type { EvaluationRow } from "@imprint/contracts";
import { short } from "./numbers.js";

/** A row of an evaluation in words. */
export function rowName({ row, adapter_id: id }: Pick<EvaluationRow, "row" | "adapter_id">): string {
  switch (row) {
    case "base":
      return "Base model";
    case "adapter":
      return "With the adapter";
    case "control":
      return `With the control ${id ?? "adapter"}`;
    case "context":
      return "Training session in the prompt";
  }
}

/** A difference with its sign, in nats per token. */
export const signed = (difference: number): string =>
  `${difference > 0 ? "+" : difference < 0 ? "−" : "±"}${short(Math.abs(difference))}`;

export const intervalText = ([low, high]: readonly number[]): string => `${signed(low ?? 0)} to ${signed(high ?? 0)}`;

/** What an interval of changes of a loss says: a loss that fell is better. */
export const meaningOf = ([low = 0, high = 0]: readonly number[]): "better" | "worse" | "may be chance" =>
  high < 0 ? "better" : low > 0 ? "worse" : "may be chance";

/** A share of tokens or turns. */
export const percent = (share: number): string => `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;

export const pValue = (p: number): string => (p < 0.001 ? "< 0.001" : String(Number(p.toFixed(3))));
