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
});
export type BaseModelEntry = Static<typeof BaseModelEntry>;

export const BaseModelList = Strict({ models: Type.Array(BaseModelEntry) });
export type BaseModelList = Static<typeof BaseModelList>;
