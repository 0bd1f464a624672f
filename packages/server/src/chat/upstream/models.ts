import { isObject } from "@imprint/contracts";
import { ImprintError } from "../../common/error.js";
import type { Upstream } from "../../config/upstream.js";
import type { ServedModel } from "../../runners/served.js";
import { createUpstreamHttp, type UpstreamHttp } from "./http.js";

/** Programs that are known by what their lists of models say; any other is `openai`, which passes chats on and takes no adapters. */
export type UpstreamKind = "vllm" | "sglang" | "llama-server" | "openai";

const KINDS: Readonly<Record<string, UpstreamKind>> = { vllm: "vllm", sglang: "sglang", llamacpp: "llama-server" };

export interface UpstreamModel extends ServedModel {
  readonly kind: UpstreamKind;
  /** The folder or hub id that it was loaded from; its id where the server does not say. */
  readonly root: string;
  /** The model that it is an adapter of. */
  readonly parent: string | null;
}

const LIST_MS = 5_000;

const textOr = <Other>(value: unknown, other: Other): string | Other => (typeof value === "string" ? value : other);
const integer = (value: unknown): number | null => (Number.isInteger(value) ? (value as number) : null);

/** `max_model_len` is vLLM's and SGLang's, `meta` llama-server's, `context_length` this service's own. */
const lengthOf = ({ max_model_len, meta, context_length }: Readonly<Record<string, unknown>>): number | null => {
  const { n_ctx, n_ctx_train } = isObject(meta) ? meta : {};
  return integer(max_model_len) ?? integer(n_ctx) ?? integer(n_ctx_train) ?? integer(context_length);
};

/** The entries of `GET /v1/models` that have an id. */
const modelsIn = (answer: unknown): readonly UpstreamModel[] => {
  const data = isObject(answer) && Array.isArray(answer.data) ? answer.data : [];
  return data.filter(isObject).flatMap((entry) => {
    const { id, owned_by, created, root, parent } = entry;
    if (typeof id !== "string" || id === "") return [];
    const owner = textOr(owned_by, "upstream");
    return [
      {
        id,
        owned_by: owner,
        created: Math.max(0, integer(created) ?? 0),
        context_length: lengthOf(entry),
        kind: KINDS[owner] ?? "openai",
        root: textOr(root, id),
        parent: textOr(parent, null),
      },
    ];
  });
};

/** Rejects with ImprintError where the server does not answer. */
export const listModels = async (http: UpstreamHttp, signal?: AbortSignal): Promise<readonly UpstreamModel[]> =>
  modelsIn(await http.ask({ path: "/v1/models", limitMs: LIST_MS, signal }));

/** The last part of a hub id or a folder, without Ollama's tag: what the same model is called everywhere. */
const shortName = (name: string): string =>
  name
    .replace(/[/\\]+$/, "")
    .split(/[/\\]/)
    .at(-1)
    ?.toLowerCase()
    .replace(/:latest$/, "") ?? "";

/** The upstream's own copy of a base model: by the id that it is served as, or by what it was loaded from. */
export const copyOf = (base: string, models: readonly UpstreamModel[]): UpstreamModel | null => {
  const bases = models.filter(({ parent }) => parent === null);
  return bases.find(({ id, root }) => [id, root].some((name) => shortName(name) === shortName(base))) ?? null;
};

/** The model that an adapter was merged into, by the adapter's name: `gates-v1`, or Ollama's `gates-v1:latest`. */
export const mergedOf = (adapter: string, models: readonly UpstreamModel[]): UpstreamModel | null =>
  models.find((model) => !takesTokens(model.kind) && shortName(model.id) === adapter.toLowerCase()) ?? null;

/** Whether prompts can be handed over as the token ids that the trainer renders. */
export const takesTokens = (kind: UpstreamKind): boolean => kind !== "openai";

/** Of the weights' SHA-256: enough to tell adapters of one name apart. */
export const HASH_LENGTH = 12;
const HANDED = new RegExp(`^(.+)-[0-9a-f]{${HASH_LENGTH}}$`);

/** Whether a model of the upstream's list is an adapter that a service handed over. */
export const isHandedOver = ({ id, parent, kind }: UpstreamModel): boolean =>
  kind !== "openai" && parent !== null && HANDED.test(id);

/** Where servers tell their release, the first one without the hole that is known, and the hole. `openai`: Ollama's; others have no such path. */
const RELEASES: Partial<Record<UpstreamKind, readonly [path: string, safe: string, hole: string]>> = {
  vllm: ["/version", "0.14.0", "CVE-2026-22807, a model's own code runs unasked"],
  openai: ["/api/version", "0.17.1", "CVE-2026-7482, a GGUF file reads its memory"],
};

/** The known hole of the release that runs there, in a sentence; null where none is known or it does not say. */
const holeOf = async (http: UpstreamHttp, kind: UpstreamKind): Promise<string | null> => {
  const [path = "", safe = "", hole = ""] = RELEASES[kind] ?? [];
  const answer = path && (await http.ask({ path, limitMs: LIST_MS }).catch(() => null)); // whatever fails is told of the chats
  const version = isObject(answer) ? textOr(answer.version, null) : null;
  if (version === null || version.localeCompare(safe, "en", { numeric: true }) >= 0) return null;
  return `its release ${version} has a known hole (${hole}); ${safe} has not`;
};

/** What an upstream answers when it is asked what it serves. */
export interface UpstreamLook {
  readonly host: string;
  /** Why there is no answer; null where there is one. */
  readonly problem: string | null;
  readonly kind: UpstreamKind | null;
  readonly hole: string | null;
  readonly models: readonly string[];
  /** Of these base models those whose chats it answers, adapters included, by what it calls them. */
  readonly copies: Readonly<Record<string, string>>;
}

export const lookAtUpstream = async (upstream: Upstream, bases: readonly string[]): Promise<UpstreamLook> => {
  const { host } = upstream;
  try {
    const http = createUpstreamHttp(upstream);
    const models = await listModels(http);
    const kind = models[0]?.kind ?? "openai";
    const copies = bases.flatMap((base) => {
      const copy = copyOf(base, models);
      return copy !== null && takesTokens(copy.kind) ? [[base, copy.id]] : [];
    });
    const ids = models.filter((model) => !isHandedOver(model)).map(({ id }) => id);
    return { host, problem: null, kind, hole: await holeOf(http, kind), models: ids, copies: Object.fromEntries(copies) };
  } catch (error) {
    if (!(error instanceof ImprintError)) throw error;
    return { host, problem: `${error.message} ${error.hint}`, kind: null, hole: null, models: [], copies: {} };
  }
};
