import { Strict } from "@imprint/contracts";
import { Type } from "typebox";
import type { Clock } from "../../common/clock.js";
import { createAttempts } from "../../http/attempts.js";
import { ProblemError } from "../../http/problem.js";
import type { App, Services } from "../../services.js";

const BODY_BYTES = 1024;

const NewsBody = Strict({
  attempt: Type.String({ minLength: 1, maxLength: 128 }),
  bytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  ended: Type.Boolean(),
});

const refused = (): ProblemError =>
  new ProblemError("UNAUTHORIZED", "No attempt that is under way has this token and this news.", {
    headers: { "www-authenticate": "Bearer" },
  });

/**
 * What supervisors on a cluster tell (docs/ray.md): no part of the API, so in no document of it. Each has a token of its own; the
 * service's opens nothing here, and this one nothing else.
 */
export const clusterNewsRoute = (
  app: App,
  { callbacks }: Pick<Services, "callbacks">,
  { clock }: { readonly clock: Clock },
): void => {
  if (callbacks === null) return;
  const attempts = createAttempts({ clock }); // of its own: whoever guesses here slows no user down
  app.post(
    callbacks.path,
    { bodyLimit: BODY_BYTES, schema: { hide: true, body: NewsBody } },
    async ({ body, ip, headers }, reply) => {
      const [, token = ""] = /^Bearer ([0-9a-f]{64})$/.exec(headers.authorization ?? "") ?? [];
      let isTooOften = false;
      const isHeard = await attempts.check(ip, () => {
        const heard = callbacks.hear(body, token);
        isTooOften = heard === "too_often";
        return heard !== "refused";
      });
      if (!isHeard) throw refused();
      if (isTooOften)
        throw new ProblemError("TOO_MANY_ATTEMPTS", "This attempt tells its news too often.", {
          headers: { "retry-after": "1" },
        });
      return reply.code(204).send();
    },
  );
};
