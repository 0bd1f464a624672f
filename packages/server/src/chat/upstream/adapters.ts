import { basename, join } from "node:path";
import { ImprintError } from "../../common/error.js";
import { createKeyedLock } from "../../common/keyed-lock.js";
import { createWeightsHash } from "../weights-hash.js";
import type { UpstreamHttp } from "./http.js";
import { HASH_LENGTH, type UpstreamModel } from "./models.js";

const LOAD_MS = 120_000;
/** Fields of a request that ask for an adapter. */
export interface Attached {
  readonly model: string;
  readonly lora?: readonly { readonly id: number; readonly scale: number }[];
}

export interface UpstreamAdapters {
  /**
   * Sees to it that the model's server has the adapter. Rejects with ImprintError EXPORT_UNSUPPORTED where it cannot take it, and
   * says what to do.
   */
  attach(adapter: string, model: UpstreamModel, listed: readonly UpstreamModel[], signal?: AbortSignal): Promise<Attached>;
  /** Without any adapter, those included that the server would apply by itself. */
  bare(model: UpstreamModel, signal?: AbortSignal): Promise<Attached>;
}

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
  folder,
}: {
  readonly http: UpstreamHttp;
  /** Where the upstream sees the adapters; null: where they are. */
  readonly folder: string | null;
}): UpstreamAdapters => {
  const hashOf = createWeightsHash();
  const locked = createKeyedLock();

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

  return {
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
      if (!isThere) await locked([name], () => load(path, { lora_name: name, lora_path }, signal));
      return { model: model.kind === "vllm" ? name : `${model.id}:${name}` };
    },
    bare: async (model, signal) => {
      if (model.kind !== "llama-server" || (await preloaded(signal)).length === 0) return { model: model.id };
      return { model: model.id, lora: [] };
    },
  };
};
