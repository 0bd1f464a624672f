import { type Static, Type } from "typebox";
import { Sha256 } from "./ids.js";
import { Strict } from "./object.js";

/** A file of an adapter, as the trainer wrote it and the service re-hashed it. */
export const AdapterFile = Strict({
  name: Type.String({ pattern: "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$" }),
  size: Type.Integer({ minimum: 0 }),
  sha256: Sha256,
});
export type AdapterFile = Static<typeof AdapterFile>;
