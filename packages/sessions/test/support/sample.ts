import type { SessionFormat } from "@imprint/contracts";

/** A recording written by hand in a format's true shape. */
export interface Sample {
  readonly format: SessionFormat;
  readonly name: string;
  readonly text: string;
  /** What counts as the person's words; both requests where nothing is said. */
  readonly users?: readonly string[];
}
