import { type Static, Type } from "typebox";
import { Strict } from "../object.js";

export const Model = Strict({
  id: Type.String(),
  object: Type.Literal("model"),
  created: Type.Integer(),
  owned_by: Type.String(),
  context_length: Type.Union([Type.Integer(), Type.Null()], {
    description: "Tokens of prompt and answer; null where the files do not say",
  }),
  capabilities: Type.Array(Type.Union([Type.Literal("chat"), Type.Literal("tools")])),
});
export type Model = Static<typeof Model>;

export const ModelList = Strict({ object: Type.Literal("list"), data: Type.Array(Model) });
export type ModelList = Static<typeof ModelList>;
