import { type Static, Type } from "typebox";
import { PartialTraining } from "../adapters.js";
import { AdapterFile } from "../ids.js";
import { Strict } from "../object.js";
import { Proof } from "../training.js";

/** What a finished training hands over. The service re-hashes every file. */
export const JobResult = Strict({
  files: Type.Array(AdapterFile),
  proof: Proof,
  rank: Type.Integer(),
  alpha: Type.Number(),
  warnings: Type.Array(Type.String()),
  partial: Type.Optional(PartialTraining),
});
export type JobResult = Static<typeof JobResult>;
