import { type TrainSweepRequest, trialCounts } from "@imprint/contracts";
import { count } from "../text/numbers.js";

const TRIED = [
  ["rank", "ranks"],
  ["alpha", "alphas"],
  ["learning_rate", "learning rates"],
  ["epochs", "numbers of epochs"],
] as const;

/** What a sweep would try, before it starts. Of a number of trials that is none the schema says so. */
export function trialsSentence({ trials: wanted, ...request }: TrainSweepRequest): string {
  const isNumber = Number.isInteger(wanted) && Number(wanted) > 0;
  const { combinations, trials } = trialCounts(isNumber ? { ...request, trials: Number(wanted) } : request);
  if (combinations < 2) return "1 trial: write several ranks, learning rates, alphas or epochs, and each combination is one.";
  const several = TRIED.flatMap(([name, nouns]) => {
    const amount = request[name]?.length ?? 1;
    return amount > 1 ? [`${amount} ${nouns}`] : [];
  });
  const drawn = trials < combinations ? `, drawn from ${count(combinations, "combination")}` : "";
  const stops = request.early_stopping === "none" ? "all are trained to their end" : "the worse half is stopped on the way";
  return `${count(trials, "trial")}${drawn}: ${several.join(" × ")}; ${stops}.`;
}
