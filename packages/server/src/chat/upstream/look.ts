import { ImprintError } from "../../common/error.js";
import type { Upstream } from "../../config/upstream.js";
import { isHandedOver } from "./adapters.js";
import { createUpstreamHttp } from "./http.js";
import { copyOf, listModels, takesTokens, type UpstreamKind } from "./models.js";

/** What an upstream answers when it is asked what it serves. */
export interface UpstreamLook {
  readonly host: string;
  /** Why there is no answer; null where there is one. */
  readonly problem: string | null;
  readonly kind: UpstreamKind | null;
  readonly models: readonly string[];
  /** Of these base models those whose chats it answers, adapters included, by what it calls them. */
  readonly copies: Readonly<Record<string, string>>;
}

export const lookAtUpstream = async (upstream: Upstream, bases: readonly string[]): Promise<UpstreamLook> => {
  const { host } = upstream;
  try {
    const models = await listModels(createUpstreamHttp(upstream));
    const copies = bases.flatMap((base) => {
      const copy = copyOf(base, models);
      return copy !== null && takesTokens(copy.kind) ? [[base, copy.id]] : [];
    });
    const ids = models.filter((model) => !isHandedOver(model)).map(({ id }) => id);
    return { host, problem: null, kind: models[0]?.kind ?? "openai", models: ids, copies: Object.fromEntries(copies) };
  } catch (error) {
    if (!(error instanceof ImprintError)) throw error;
    return { host, problem: `${error.message} ${error.hint}`, kind: null, models: [], copies: {} };
  }
};
