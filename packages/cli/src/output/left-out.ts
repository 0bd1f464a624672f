import type { TrainingPlan } from "@imprint/contracts";
import { count, plain } from "./text.js";

/** A line for each session that is skipped, and one for each pair of sessions that share turns. */
export const leftOutLines = ({ skipped, shared }: Pick<TrainingPlan, "skipped" | "shared">): readonly string[] => [
  ...skipped.map(({ session_id, message }) => `skipped ${session_id}: ${plain(message)}`),
  ...shared.map((one) => `${one.session_id}: ${count(one.turns, "turn")} supervised in ${one.supervised_in}`),
];
