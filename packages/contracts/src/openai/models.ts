import { type Static, Type } from "typebox";
import { Strict } from "../object.js";

export const Model = Strict({
  id: Type.String(),
  object: Type.Literal("model"),
  created: Type.Integer(),
  owned_by: Type.String(),
});
export type Model = Static<typeof Model>;

export const ModelList = Strict({ object: Type.Literal("list"), data: Type.Array(Model) });
export type ModelList = Static<typeof ModelList>;
