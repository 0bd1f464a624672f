import { type Static, Type } from "typebox";
import { Strict } from "./object.js";

/** Imprint's version; a test compares it with package.json. */
export const VERSION = "0.1.0";

/** Answer of `GET /health`: the process runs. */
export const Health = Strict({
  status: Type.Literal("healthy"),
  service: Type.Literal("imprint"),
  version: Type.String({ description: "Imprint's" }),
  preparing: Type.Array(Type.String(), { description: "What chats wait for just now, for people to read." }),
});
export type Health = Static<typeof Health>;
