import { Strict } from "@imprint/contracts";
import { type TSchema, Type } from "typebox";

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

/** A page of the entries that follow; `following` may hold more than the page. */
export const pageOf = <T extends { readonly id: string }>(following: readonly T[], limit = 20) => {
  const data = following.slice(0, limit);
  return {
    object: "list",
    data: [...data],
    has_more: following.length > data.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  } as const;
};

export const seconds = (timestamp: string): number => Math.floor(Date.parse(timestamp) / 1000);
