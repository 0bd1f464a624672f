import type { TrainOn } from "@imprint/contracts";
import { UsageError } from "../errors.js";

const WORDS = ["all", "successful_steps", "final_answer"] as const;
const TURNS = /^turns:(\d{1,9}(?:,\d{1,9})*)$/;

/** How --train-on is written. */
export const TRAIN_ON_FORM = [...WORDS, "turns:n,n,..."].join("|");

export function readTrainOn(text: string): TrainOn {
  const word = WORDS.find((known) => known === text);
  if (word !== undefined) return word;
  const [, numbers] = TURNS.exec(text) ?? [];
  if (numbers === undefined)
    throw new UsageError(`--train-on takes ${WORDS.join(", ")} or turns:1,3 (numbers of turns, from 0), not "${text}"`);
  return { turns: [...new Set(numbers.split(",").map(Number))] };
}
