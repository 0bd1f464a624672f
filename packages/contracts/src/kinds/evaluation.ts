import { type Static, Type } from "typebox";
import { Evaluation } from "../evaluation.js";
import { AdapterFile, AdapterId, JobId, SessionId } from "../ids.js";
import { Strict } from "../object.js";

const StagedSession = Strict({ session_id: SessionId, path: Type.String() });

/** A registered adapter against its base model, on sessions that it was not trained on. */
export const EvaluateSpec = Strict({
  adapter_id: AdapterId,
  adapter_path: Type.String(),
  base_model: Type.String(),
  base_model_name: Type.String(),
  sessions: Type.Array(StagedSession, { minItems: 1, description: "Tested on, oldest first" }),
  trained_on: Type.Array(StagedSession, { description: "What the adapter was trained on, as far as it is stored" }),
  control: Type.Union([Strict({ adapter_id: AdapterId, path: Type.String() }), Type.Null()]),
  actions: Type.Integer({ minimum: 0, maximum: 200 }),
  seed: Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 }),
  cache_dir: Type.String({
    description: "Finished measurements, each named by a hash of all that decides it; shared by all evaluations",
  }),
  output_dir: Type.String({
    description: "Empty staging folder; the worker writes evaluation.json and the new README.md into it",
  }),
});
export type EvaluateSpec = Static<typeof EvaluateSpec>;

export const EvaluateTask = Strict({ type: Type.Literal("evaluate"), job_id: JobId, spec: EvaluateSpec });
export type EvaluateTask = Static<typeof EvaluateTask>;

/** What a finished evaluation hands over. `evaluation` is what evaluation.json holds. */
export const EvaluationResult = Strict({
  files: Type.Array(AdapterFile),
  evaluation: Evaluation,
  warnings: Type.Array(Type.String()),
});
export type EvaluationResult = Static<typeof EvaluationResult>;
