import { type TProperties, type TSchemaOptions, Type } from "typebox";

/** An object that refuses keys it does not name: nothing a client says is silently dropped. */
export const Strict = <P extends TProperties>(properties: P, options: TSchemaOptions = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options });
