import { type Static, Type } from "typebox";
import { EvaluationSummary } from "./evaluation.js";
import { AdapterFile, AdapterId, JobId, SessionId, Sha256, Timestamp } from "./ids.js";
import { OneOf, Strict } from "./object.js";
import { TaskSummary } from "./tasks.js";
import { Proof } from "./training.js";
import { Verdict } from "./verdict.js";

export const AdapterHealth = Type.Union([Type.Literal("ok"), Type.Literal("missing"), Type.Literal("corrupt")]);
export type AdapterHealth = Static<typeof AdapterHealth>;

/** What a list of adapters is sorted by, the highest first: when it was made, its evaluation, the share of tasks solved, its size. */
export const AdapterSort = OneOf(["created", "helps", "tasks", "size"]);
export type AdapterSort = Static<typeof AdapterSort>;

/** How far the training of a salvaged adapter came. */
export const PartialTraining = Strict({ step: Type.Integer({ minimum: 1 }), max_steps: Type.Integer({ minimum: 1 }) });
export type PartialTraining = Static<typeof PartialTraining>;

export const AdapterMethod = Type.Union([Type.Literal("lora"), Type.Literal("hypernetwork")]);
export type AdapterMethod = Static<typeof AdapterMethod>;

/** Whether what answers an adapter's chats applies it, as it was measured last. */
export const ServedBy = Strict({
  /** The engine, and where it is. */
  by: Type.String(),
  applied: Type.Boolean(),
  /** Nats a probe by which what the adapter changes there is off from its proof; null where the engine or the proof has no numbers. */
  off: Type.Union([Type.Number({ minimum: 0 }), Type.Null()]),
  measured_at: Timestamp,
});
export type ServedBy = Static<typeof ServedBy>;

export const servedText = ({ by, applied, off }: ServedBy): string =>
  `${by}: ${applied ? "applied" : "not applied"}${off === null ? "" : `, ${off.toFixed(3)} nats off its proof`}`;

/** A registered adapter. */
export const Adapter = Strict({
  adapter_id: AdapterId,
  method: AdapterMethod,
  base_model: Type.String(),
  task_type: Type.String(),
  /** The first of `session_ids`. */
  session_id: SessionId,
  session_ids: Type.Array(SessionId, { minItems: 1 }),
  job_id: JobId,
  rank: Type.Integer({ minimum: 1 }),
  alpha: Type.Number(),
  size: Type.Integer({ minimum: 0, description: "Bytes of all files" }),
  sha256: Sha256,
  files: Type.Array(AdapterFile),
  metadata: Type.Record(Type.String(), Type.String()),
  proof: Proof,
  verdict: Verdict,
  /** What its last evaluation says; null where it was never evaluated. */
  evaluation: Type.Union([EvaluationSummary, Type.Null()]),
  /** What its evaluation on tasks says; null where there is none. */
  tasks: Type.Union([TaskSummary, Type.Null()]),
  /** Null where no engine but the trainer was asked yet. */
  served: Type.Union([ServedBy, Type.Null()]),
  /** Null for a training that went to its end; else the adapter was salvaged from a checkpoint. */
  partial: Type.Union([PartialTraining, Type.Null()]),
  created_at: Timestamp,
  health: AdapterHealth,
  path: Type.String({ description: "Folder of the adapter, relative to the data directory" }),
});
export type Adapter = Static<typeof Adapter>;

/** An adapter in one word: what is wrong with its files, or that it harms. */
export const conditionOf = ({ health, verdict }: Pick<Adapter, "health" | "verdict">): AdapterHealth | "harmful" =>
  health === "ok" && verdict === "harms" ? "harmful" : health;

export const AdapterList = Strict({ adapters: Type.Array(Adapter), next: Type.Union([AdapterId, Type.Null()]) });
export type AdapterList = Static<typeof AdapterList>;
