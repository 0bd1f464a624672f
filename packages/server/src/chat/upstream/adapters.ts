import { basename, join } from "node:path";
import { isObject } from "@imprint/contracts";
import { ImprintError } from "../../common/error.js";
import { createKeyedLock } from "../../common/keyed-lock.js";
import { type Asked, type Prove, pairsOf, type Said } from "../applied.js";
import { createWeightsHash } from "../weights-hash.js";
import type { UpstreamHttp } from "./http.js";
import { HASH_LENGTH, type UpstreamModel } from "./models.js";

const LOAD_MS = 120_000;
/** Tokens of each answer that tells whether an adapter is applied: where the server tells no probabilities, they are compared. */
const ANSWERED = 8;
/** Likeliest tokens that it is asked for: as many as vLLM tells. */
const TOLD = 20;

/** Fields of a request that ask for an adapter. */
export interface Attached {
  readonly model: string;
  readonly lora?: readonly { readonly id: number; readonly scale: number }[];
}

/** Where the upstream answers for a model of this machine. */
export interface Place {
  readonly model: UpstreamModel;
  readonly attached: Attached;
}

export interface UpstreamAdapters {
  /**
   * Sees to it that the model's server has the adapter. Rejects with ImprintError EXPORT_UNSUPPORTED where it cannot take it, and
   * says what to do.
   */
  attach(adapter: string, model: UpstreamModel, listed: readonly UpstreamModel[], signal?: AbortSignal): Promise<Attached>;
  /** Without any adapter, those included that the server would apply by itself. */
  bare(model: UpstreamModel, signal?: AbortSignal): Promise<Attached>;
  /** Once for each adapter that it was handed, or `again`: a server that drops one says nothing of it. Rejects as `Prove` does. */
  prove(asked: HandedOver, signal?: AbortSignal): Promise<true>;
}

interface HandedOver {
  readonly adapter: string;
  readonly place: Place;
  /** The chat's. */
  readonly prompt: readonly number[];
  readonly again?: boolean;
}

/** vLLM (ids by `return_tokens_as_token_ids`) and SGLang: `{top_logprobs: [{TOKEN: LOGPROB}]}`; llama-server: `{content: [{top_logprobs: [{id, token, logprob}]}]}`. */
const saidIn = (answer: unknown): Said => {
  const [choice]: unknown[] = isObject(answer) && Array.isArray(answer.choices) ? answer.choices : [];
  const logprobs = isObject(choice) && isObject(choice.logprobs) ? choice.logprobs : {};
  const [first]: unknown[] = Array.isArray(logprobs.content) ? logprobs.content : [];
  const [top]: unknown[] = Array.isArray(logprobs.top_logprobs) ? logprobs.top_logprobs : [];
  const listed = isObject(first) && Array.isArray(first.top_logprobs) ? first.top_logprobs.filter(isObject) : [];
  const pairs = isObject(top)
    ? Object.entries(top).map(([token, logprob]) => [token.replace(/^token_id:/, ""), logprob] as const)
    : listed.map(({ id, token, logprob }) => [`${id ?? token}`, logprob] as const);
  const numbers = pairs.filter((pair): pair is [string, number] => typeof pair[1] === "number");
  const text = isObject(choice) && typeof choice.text === "string" ? choice.text : "";
  return { text, likeliest: numbers.length === 0 ? null : new Map(numbers) };
};

interface Preloaded {
  readonly id: number;
  readonly name: string;
}

const preloadedIn = (answer: unknown): readonly Preloaded[] =>
  (Array.isArray(answer) ? answer : []).flatMap(({ id, path }: { readonly id?: unknown; readonly path?: unknown }) =>
    typeof id === "number" && typeof path === "string" ? [{ id, name: basename(path.replaceAll("\\", "/"), ".gguf") }] : [],
  );

/** Adapters by the name `ID-HASH`: an id is written once on one machine, and another machine's of the same id has other weights. */
export const createUpstreamAdapters = ({
  http,
  host,
  folder,
  prove,
}: {
  readonly http: UpstreamHttp;
  readonly host: string;
  readonly prove: Prove;
  /** Where the upstream sees the adapters; null: where they are. */
  readonly folder: string | null;
}): UpstreamAdapters => {
  const hashOf = createWeightsHash();
  const locked = createKeyedLock();
  const proved = new Set<string>();

  const load = async (path: string, body: object, signal: AbortSignal | undefined): Promise<void> => {
    try {
      await http.ask({ path, body, limitMs: LOAD_MS, signal });
    } catch (error) {
      if (!(error instanceof ImprintError) || error.code.startsWith("UPSTREAM_")) throw error;
      if (/already (?:been )?loaded|already exists/i.test(error.message)) return;
      throw new ImprintError("EXPORT_UNSUPPORTED", error.message, {
        hint: "vLLM needs --enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=1, SGLang --enable-lora; both read the adapter's folder themselves: upstream_adapters says where it lies for them.",
      });
    }
  };

  const preloaded = async (signal: AbortSignal | undefined): Promise<readonly Preloaded[]> =>
    preloadedIn(await http.ask({ path: "/lora-adapters", limitMs: LOAD_MS, signal }));

  const bare: UpstreamAdapters["bare"] = async (model, signal) => {
    if (model.kind !== "llama-server") return { model: model.id };
    // Each by name: an empty list asks for those that it was started with.
    const lora = (await preloaded(signal)).map(({ id }) => ({ id, scale: 0 }));
    return lora.length === 0 ? { model: model.id } : { model: model.id, lora };
  };

  return {
    bare,
    prove: async ({ adapter, place: { attached, model }, prompt, again = false }, signal) => {
      const key = JSON.stringify([adapter, attached]);
      if (proved.has(key) && !again) return true;
      const none = await bare(model, signal);
      const greedy = { max_tokens: ANSWERED, temperature: 0, logprobs: TOLD, return_tokens_as_token_ids: model.kind === "vllm" };
      const say = async (tokens: readonly number[], isAdapted: boolean): Promise<Said> => {
        const body = { ...(isAdapted ? attached : none), prompt: tokens, ...greedy };
        return saidIn(await http.ask({ path: "/v1/completions", body, limitMs: LOAD_MS, signal }));
      };
      const ask: Asked["ask"] = (prompts) => pairsOf(prompts.length === 0 ? [prompt] : prompts, say);
      await prove({ adapter, by: `${model.owned_by} at ${host}`, ask });
      proved.add(key);
      return true;
    },
    attach: async (adapter, model, listed, signal) => {
      const name = `${basename(adapter)}-${(await hashOf(adapter)).slice(0, HASH_LENGTH)}`;
      if (model.kind === "llama-server") {
        const found = (await preloaded(signal)).find((one) => one.name === name);
        if (found) return { model: model.id, lora: [{ id: found.id, scale: 1 }] };
        throw new ImprintError("EXPORT_UNSUPPORTED", `llama-server was started without the adapter ${name}.`, {
          hint: `imprint export ${basename(adapter)} --format gguf --out ${name}.gguf writes it; start llama-server with --lora ${name}.gguf --lora-init-without-apply.`,
        });
      }
      const lora_path = folder === null ? adapter : join(folder, basename(adapter));
      const isThere = listed.some(({ id }) => id === name);
      const path = model.kind === "vllm" ? "/v1/load_lora_adapter" : "/load_lora_adapter";
      const attached = { model: model.kind === "vllm" ? name : `${model.id}:${name}` };
      if (!isThere) {
        proved.delete(JSON.stringify([adapter, attached]));
        await locked([name], () => load(path, { lora_name: name, lora_path }, signal));
      }
      return attached;
    },
  };
};
