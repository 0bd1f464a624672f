import { verdictOf } from "../../../packages/contracts/dist/index.js";

/** Every reason, in a sentence, to call the demo failed although the job completed. */
export function doubts({ proof, health, before, after, imprinted }) {
  const { accepted_by, keys_matched, keys_expected } = proof;
  const refusals = Object.entries(accepted_by).filter(([, accepted]) => !accepted);
  return [
    verdictOf(proof) !== "learned" && "The adapter did not learn its session, or forgot too much for it.",
    keys_matched !== keys_expected && `Only ${keys_matched} of ${keys_expected} tensors reached the model.`,
    ...refusals.map(([consumer]) => `${consumer} would refuse the adapter.`),
    health !== "ok" && `The registry finds the adapter ${health}.`,
    before.text === after.text && "The adapter answers as the base model does.",
    after.taught <= before.taught && "The adapter writes no more of what only the session could have taught than the base model.",
    verdictOf(imprinted) !== "learned" && "The imprint of the session did not learn it, or forgot too much for it.",
  ].filter(Boolean);
}
