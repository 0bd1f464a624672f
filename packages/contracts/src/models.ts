import { type Static, Type } from "typebox";
import { BaseModelName } from "./ids.js";
import { OneOf, Strict } from "./object.js";

/** A base model that is on the service's machine, or that the catalogue knows. */
export const BaseModelEntry = Strict({
  name: BaseModelName,
  is_default: Type.Boolean({ description: "Whether requests that name no base model get it" }),
  here: Type.Boolean({ description: "Whether it can be trained and asked without a download" }),
  from: OneOf(["setup", "data directory", "hub cache", "folder", "catalogue"]),
  size: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: "Bytes on the disk; of one that is not here those of its download, where they are known",
  }),
  licence: Type.Union([Type.String(), Type.Null()], { description: "As its card states it" }),
  context_length: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], { description: "Tokens that it reads at once" }),
  template: Type.Union([OneOf(["tools", "plain"]), Type.Null()], {
    description: "Whether its chat template has a place for tools; null without a template",
  }),
  weights: Type.Union([Type.String(), Type.Null()], {
    description: "Number format of its files, or how they are quantised: bfloat16, gptq; trainings make NF4 of them",
  }),
  engine: Type.Union([OneOf(["llama.cpp", "transformers"]), Type.Null()], {
    description: "Who answers chats with it on this machine; null of one that is not here",
  }),
  training: Type.Union(
    [
      Strict({
        fits: Type.Boolean(),
        total_mb: Type.Number({ minimum: 0 }),
        window: Type.Integer({ minimum: 1, description: "Tokens of the longest window that trainings choose here" }),
      }),
      Type.Null(),
    ],
    { description: "What a training takes here, in MB of 10^6 bytes; null where that is not known" },
  ),
});
export type BaseModelEntry = Static<typeof BaseModelEntry>;

/** Body of `POST /models`. */
export const PullRequest = Strict({
  name: Type.String({ ...BaseModelName, description: "A name of the catalogue, or a hub id owner/name" }),
});
export type PullRequest = Static<typeof PullRequest>;

/** What the details of a finished pull show. */
export const PulledModel = Strict({ base_model: BaseModelName });
export type PulledModel = Static<typeof PulledModel>;

export const BaseModelList = Strict({ models: Type.Array(BaseModelEntry) });
export type BaseModelList = Static<typeof BaseModelList>;
