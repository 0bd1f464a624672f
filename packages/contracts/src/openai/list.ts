import { type TSchema, Type } from "typebox";
import { Strict } from "../object.js";

/** OpenAI's list: the newest first, and what follows `after` on the next page. */
export const listOf = (item: TSchema) =>
  Strict({
    object: Type.Literal("list"),
    data: Type.Array(item),
    has_more: Type.Boolean(),
    first_id: Type.Union([Type.String(), Type.Null()]),
    last_id: Type.Union([Type.String(), Type.Null()]),
  });

export const After = Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: "The last id of the page before" }));

export const PageQuery = Strict({
  after: After,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 20, description: "Entries on a page" })),
});
