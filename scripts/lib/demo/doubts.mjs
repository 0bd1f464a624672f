/** Every reason, in a sentence, to call the demo failed although the job completed. */
export function doubts({ proof, health, before, after, learned }) {
  const { accepted_by, keys_matched, keys_expected, loss_before, loss_after } = proof;
  const refusals = Object.entries(accepted_by).filter(([, accepted]) => !accepted);
  return [
    loss_after >= loss_before && "The adapter did not learn: the loss on its session did not fall.",
    keys_matched !== keys_expected && `Only ${keys_matched} of ${keys_expected} tensors reached the model.`,
    ...refusals.map(([consumer]) => `${consumer} would refuse the adapter.`),
    health !== "ok" && `The registry finds the adapter ${health}.`,
    before === after && "The adapter answers as the base model does.",
    after.search(learned) === -1 && "The adapter's answer holds nothing that only the session could have taught.",
  ].filter(Boolean);
}
