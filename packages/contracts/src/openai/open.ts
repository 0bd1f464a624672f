import { type TSchema, Type } from "typebox";
import { worded } from "../object.js";

/** A field that may be left out, for which OpenAI's clients may also say null. */
export const open = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));

/** A field that clients cannot leave out, and that cannot change an answer here. */
export const ignored = Type.Optional(Type.Unknown({ description: "Accepted, and changes nothing" }));

export const ModelName = Type.String({ minLength: 1, maxLength: 200, description: "An adapter's id, or a base model's name" });

/** A text, or parts of which each names its type. */
export const Content = Type.Union([
  Type.String(),
  Type.Array(Type.Object({ type: Type.String(), text: Type.Optional(Type.String()) })),
  Type.Null(),
]);

/** A tool, an item or a block of a type that is not read: `other` stands for any but those. It is left out, and named in a header. */
export const OtherThan = (...types: readonly string[]) =>
  Type.Unsafe<{ readonly type: "other" }>(
    Type.Object(
      { type: Type.String({ pattern: `^(?!(?:${types.join("|")})$)` }) },
      { description: "Left out, and named in the header x-imprint-left-out" },
    ),
  );

export const FunctionName = Type.String(
  worded("^[A-Za-z0-9_.-]{1,128}$", "letters, digits, dots, dashes and underscores, at most 128 characters"),
);
export const Parameters = open(Type.Record(Type.String(), Type.Unknown(), { description: "JSON schema" }));

export const MaxTokens = open(
  Type.Integer({ minimum: 1, description: "Cut to the room that the prompt leaves in the context, which is the default" }),
);
export const Temperature = open(Type.Number({ minimum: 0, maximum: 2, description: "Default: 0, always the likeliest token" }));
export const TopP = open(Type.Number({ exclusiveMinimum: 0, maximum: 1 }));
/** What servers of open models take beside OpenAI's fields: honoured, or refused where the answer would be another one. */
export const sampling = {
  top_k: open(Type.Integer({ minimum: -1, description: "Of how many likeliest tokens one is drawn; 0 and -1: of all" })),
  min_p: open(
    Type.Number({ minimum: 0, maximum: 1, description: "Of the likeliest token's probability: less likely ones are not drawn" }),
  ),
  repetition_penalty: open(Type.Number({ description: "1, which changes nothing" })),
  repeat_penalty: open(Type.Number({ description: "The same" })),
  chat_template_kwargs: open(
    Type.Record(Type.String(), Type.Unknown(), { description: "`enable_thinking`; another one is refused unless it is false" }),
  ),
};
export const Seed = open(Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 }));
