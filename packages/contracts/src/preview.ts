import { type Static, Type } from "typebox";
import { SessionId } from "./ids.js";
import { MemoryPlanOrNull } from "./memory.js";
import { Strict } from "./object.js";
import { Holdout, LeftOutAndChanged, PlanNotes, Profile, TrainOn, Within } from "./training.js";

/** How sessions become windows and masks: what a training and its preview share. */
export const WindowsOf = {
  session_paths: Type.Array(Type.String(), { description: "At least one" }),
  session_ids: Type.Array(SessionId, { description: "One for each path" }),
  skip_invalid: Type.Boolean(),
  unreadable: Type.Array(Strict({ session_id: SessionId, message: Type.String() }), {
    description: "Sessions that the service left out, by skip_invalid, since their stored files cannot be read",
  }),
  base_model: Type.String({ description: "Folder of the base model, or hub id" }),
  profile: Profile,
  holdout: Holdout,
  max_length: Type.Union([Type.Integer({ minimum: 64 }), Type.Null()], {
    description: "Null: as long as memory and model allow",
  }),
  include_unsuccessful: Type.Boolean(),
  train_on: TrainOn,
  reasoning: Type.Boolean(),
  epochs: Type.Union([Type.Integer({ minimum: 1, maximum: 100 }), Type.Null()]),
  within: Type.Union([Within, Type.Null()]),
};

/** What decides, with the windows, how much memory a training takes. */
export const SizeOf = {
  rank: Type.Integer({ minimum: 1, maximum: 256 }),
  target_modules: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: "Null: every linear layer but the output head",
  }),
  quantization: Type.Union([Type.Literal("nf4"), Type.Literal("none")]),
};

export const PreviewSpec = Strict({ ...WindowsOf, ...SizeOf });
export type PreviewSpec = Static<typeof PreviewSpec>;

/** A stretch of rendered text with one mask value. */
export const PreviewSpan = Strict({ text: Type.String(), supervised: Type.Boolean(), tokens: Type.Integer({ minimum: 0 }) });

/** An agent turn of a previewed session: supervised, or why it is not. */
export const PreviewTurn = Strict({
  session_id: SessionId,
  turn: Type.Integer({ minimum: 0, description: "Number of the step in its session, as train_on takes it" }),
  supervised: Type.Boolean(),
  reason: Type.Union([Type.String(), Type.Null()]),
  text: Type.String({ description: "How the turn begins" }),
});
export type PreviewTurn = Static<typeof PreviewTurn>;

/** What would be trained; the numbers equal those of the job's plan. */
export const Preview = Strict({
  windows: Type.Integer({ minimum: 0 }),
  tokens: Type.Integer({ minimum: 0 }),
  supervised_tokens: Type.Integer({ minimum: 0 }),
  supervised_turns: Type.Integer({ minimum: 0 }),
  max_steps: Type.Integer({ minimum: 0 }),
  max_tokens: Type.Integer({ minimum: 0, description: "Read by a training of that many steps" }),
  ...PlanNotes,
  memory: MemoryPlanOrNull,
  ...LeftOutAndChanged,
  turns: Type.Array(PreviewTurn, { description: "Of one session all; of several the first 500: preview a session alone" }),
  turns_left_out: Type.Optional(Type.Integer({ minimum: 1, description: "Turns that are not listed" })),
  text: Type.Array(Type.Array(PreviewSpan), {
    description: "One list of spans a window: to about 200,000 characters, ask for others by window",
  }),
  first_window: Type.Integer({ minimum: 1, description: "Number of the window that text begins with" }),
  text_left_out: Type.Optional(
    Type.Integer({ minimum: 1, description: "Characters cut from the end of the only window shown: ask for it by window" }),
  ),
});
export type Preview = Static<typeof Preview>;

/** Answer of the preview calls: with the time that the training would take at most. */
export const PreviewReport = Strict({
  ...Preview.properties,
  estimated_seconds: Type.Union([Type.Number({ minimum: 0 }), Type.Null()]),
  estimate: Type.String({ description: "What the estimate is made from, or why there is none" }),
});
export type PreviewReport = Static<typeof PreviewReport>;
