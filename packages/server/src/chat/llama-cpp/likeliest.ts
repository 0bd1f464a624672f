import type { ContextRequest, Contexts } from "./contexts.js";
import type { Likely } from "./protocol.js";

/** As many as other servers tell. */
const TOLD = 20;

/** The likeliest tokens after others, the likeliest first. */
export const likeliestAfter = async (request: Omit<ContextRequest, "room">, { take }: Contexts): Promise<readonly Likely[]> => {
  const { sequence, release } = await take({ ...request, room: 1 });
  try {
    await sequence.adaptStateToTokens([], false);
    const next = sequence.evaluateWithMetadata(request.tokens, { probabilities: true }, { temperature: 0, yieldEogToken: true });
    for await (const { probabilities } of next) {
      const sorted = [...probabilities].sort(([, one], [, other]) => other - one);
      return sorted.slice(0, TOLD).map(([token, probability]) => [token, Math.log(probability)]);
    }
    return [];
  } finally {
    release();
  }
};
