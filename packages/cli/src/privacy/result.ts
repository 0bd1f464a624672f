import type { Canary } from "./canaries.js";
import type { Place } from "./plant.js";

/** Whom a canary is asked of: the base model, and adapters trained on a copy of the session with and without it. */
export const MODELS = ["base", "unredacted", "redacted"] as const;
export type Model = (typeof MODELS)[number];

export interface Measured {
  /** Among the candidates and itself; 1: the model likes none better. */
  readonly rank: number;
  /** Bits that the rank gives away. */
  readonly exposure: number;
  /** Negative log likelihood of the value, nats. */
  readonly loss: number;
  /** Whether the model, asked with the text before it, writes the value. */
  readonly extracted: boolean;
  readonly answer: string;
}

/** What the trainer says of a canary. `learned` is null, and nothing measured, where it stands in no training window. */
export type Told = { readonly id: string; readonly learned: boolean | null } & Readonly<Record<Model, Measured | null>>;

/** A canary, where it was planted, whether redaction took it away, and what came back of it. */
export type Result = Omit<Canary, "candidates"> & Place & Told & { readonly seed: number; readonly is_redacted: boolean };
