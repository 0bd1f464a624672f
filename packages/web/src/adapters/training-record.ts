/** What the dashboard shows of training.json; the file holds much more. */
export interface TrainingRecord {
  /** The loss of each step; null for an adapter that was made without steps. */
  readonly losses: readonly number[] | null;
  /** Before the first step and after each epoch; empty where nothing was held out. */
  readonly heldOutLosses: readonly number[];
  /** Sessions of which nothing was trained. */
  readonly heldOut: readonly string[];
}

/** Of an adapter without a record. */
export const NOTHING: TrainingRecord = { losses: null, heldOutLosses: [], heldOut: [] };

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;

const arrayOf = <T>(value: unknown, isOne: (item: unknown) => item is T): readonly T[] =>
  Array.isArray(value) && value.every(isOne) ? value : [];

export function readRecord(record: unknown): TrainingRecord {
  const lossesOf = (name: string) => arrayOf(fieldOf(record, name), (loss) => typeof loss === "number");
  const losses = lossesOf("losses");
  const held = fieldOf(fieldOf(record, "plan"), "held_out");
  return {
    losses: losses.length > 0 ? losses : null,
    heldOutLosses: lossesOf("held_out_losses"),
    heldOut: fieldOf(held, "whole") === true ? arrayOf(fieldOf(held, "sessions"), (id) => typeof id === "string") : [],
  };
}
