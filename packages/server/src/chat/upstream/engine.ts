import { basename } from "node:path";
import type { ChatSpec } from "@imprint/contracts";
import { ImprintError, type Log } from "../../common/error.js";
import type { Upstream } from "../../config/upstream.js";
import { idElsewhere, type Served } from "../../runners/served.js";
import { type Prove, pairsOf, type Said } from "../applied.js";
import type { ChatEngine } from "../engine.js";
import { createUpstreamAdapters, type Place } from "./adapters.js";
import { complete, passOn } from "./completions.js";
import { createUpstreamHttp } from "./http.js";
import { copyOf, isHandedOver, listModels, mergedOf, takesTokens, type UpstreamModel } from "./models.js";

/** What a merged model is asked, and its base. */
const QUESTIONS = ["What did you learn last?", "Write a function that adds two numbers.", "List the files of this folder."];

interface Options {
  readonly upstream: Upstream;
  /** Renders the prompts of this machine's models, and answers what the upstream cannot, or is away for. */
  readonly local: ChatEngine;
  /** What a base model is called, by where it lies. */
  readonly nameOf: (location: string) => string;
  readonly prove: Prove;
  readonly log: Log;
}

/** Chats by another server: those for its own models as they are, those for ours as rendered tokens, where it has their base. */
export const createUpstreamEngine = ({ upstream, local, nameOf, prove, log }: Options): ChatEngine & Served => {
  const { host } = upstream;
  const http = createUpstreamHttp(upstream);
  const adapters = createUpstreamAdapters({ http, host, folder: upstream.adapters, prove });
  const said = new Set<string>();

  /** Once for each reason, until the upstream answers again. */
  const warn = ({ message, hint }: ImprintError): void => {
    if (!said.has(message)) log.warn({ reason: `${message} ${hint}` }, "the upstream does not answer a chat; this machine does");
    said.add(message);
  };

  /** What the upstream was asked, or null where this machine has to answer, and the log says why. */
  const tried = async <Found>(asking: Promise<Found>, signal: AbortSignal | undefined): Promise<Found | null> => {
    try {
      return await asking;
    } catch (error) {
      if (signal?.aborted || !(error instanceof ImprintError)) throw error;
      warn(error);
      return null;
    }
  };

  /** Where the upstream can answer for a model of this machine; null where it cannot. */
  const placeFor = async ({ base_model, adapter_path }: ChatSpec, signal?: AbortSignal): Promise<Place | null> => {
    const listed = await listModels(http, signal);
    const model = copyOf(nameOf(base_model), listed);
    if (model === null || !takesTokens(model.kind)) return null;
    const attached =
      adapter_path === null ? await adapters.bare(model, signal) : await adapters.attach(adapter_path, model, listed, signal);
    return { model, attached };
  };

  const chat: ChatEngine["chat"] = async (request, signal, onEvent) => {
    const { spec, strict_tools } = request;
    const id = idElsewhere(spec.base_model);
    if (id !== null) {
      const model = (await listModels(http, signal)).find((one) => one.id === id);
      const attached = model ? await adapters.bare(model, signal) : { model: id };
      return passOn(http, { host, spec, strict_tools, attached, kind: model?.kind ?? "openai" }, { signal, onEvent });
    }
    // Calls of ours are read out of text, which no upstream holds to a schema from a mark on.
    const isOurs = spec.max_tokens === 0 || strict_tools.length > 0;
    const place = isOurs ? null : await tried(placeFor(spec, signal), signal);
    if (place === null) return local.chat(request, signal, onEvent);
    const prompt = await local.render(spec, signal);
    const { adapter_path } = spec;
    const isApplied =
      adapter_path === null ||
      (await tried(adapters.prove({ adapter: adapter_path, place, prompt: prompt.tokens }, signal), signal));
    if (!isApplied) return local.chat(request, signal, onEvent);
    said.clear();
    return complete(http, { host, spec, prompt, ...place }, { signal, onEvent });
  };

  /** Whether a model of the upstream that has an adapter's name is it, merged into its base: by what both say, and by what this machine says. */
  const proveMerged = async (adapter: string, merged: UpstreamModel, spec: ChatSpec, signal?: AbortSignal): Promise<void> => {
    const bare = copyOf(nameOf(spec.base_model), await listModels(http, signal));
    const say = async (content: string, isAdapted: boolean): Promise<Said> => {
      const asked = { ...spec, adapter_path: null, messages: spec.messages.map((message) => ({ ...message, content })) };
      const model = isAdapted ? merged : bare;
      const strict_tools: string[] = [];
      const { text } = await (model === null
        ? local.chat({ spec: asked, strict_tools }, signal)
        : passOn(http, { host, spec: asked, strict_tools, attached: { model: model.id }, kind: model.kind }, { signal }));
      return { text, likeliest: null };
    };
    const ask = () => pairsOf(QUESTIONS, say);
    await prove({ adapter, by: `${merged.id} at ${host}`, ask });
  };

  const handOver: ChatEngine["handOver"] = async (spec, signal) => {
    const adapter = spec.adapter_path ?? "";
    const place = await placeFor(spec, signal);
    if (place !== null) {
      const { tokens: prompt } = await local.render(spec, signal);
      return void (await adapters.prove({ adapter, place, prompt, again: true }, signal));
    }
    const merged = mergedOf(basename(adapter), await listModels(http, signal));
    return merged === null ? local.handOver?.(spec, signal) : proveMerged(adapter, merged, spec, signal);
  };

  return {
    render: local.render,
    chat,
    handOver,
    models: async () => (await listModels(http)).filter((model) => !isHandedOver(model)),
  };
};
