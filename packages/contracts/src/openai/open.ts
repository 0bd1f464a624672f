import { type TSchema, Type } from "typebox";

/** A field that may be left out, for which OpenAI's clients may also say null. */
export const open = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));
