import { type Static, Type } from "typebox";
import { Strict } from "./object.js";

/** Answer of `GET /health`: the process runs. */
export const Health = Strict({ status: Type.Literal("healthy"), service: Type.Literal("imprint") });
export type Health = Static<typeof Health>;
