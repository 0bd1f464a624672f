import { availableParallelism } from "node:os";
import { pathToFileURL } from "node:url";
import { createPieces } from "./answer-text.js";
import { createContexts, LoadError } from "./contexts.js";
import { createFreeCores } from "./free-cores.js";
import { generate, type Surroundings } from "./generate.js";
import type { Library } from "./library.js";
import { likeliestAfter } from "./likeliest.js";
import type { EngineMessage, EngineRequest, Generated, Likely } from "./protocol.js";

/** The process that holds llama.cpp, whose crash must not be the service's. Its argument is the library's entry. */
const [entry = ""] = process.argv.slice(2);
const cores = availableParallelism();
const cancelled = new Set<number>();
const say = (message: EngineMessage): void => void process.send?.(message);

const open = async (): Promise<
  Pick<Surroundings, "take" | "begin"> & { readonly onFreeCores: ReturnType<typeof createFreeCores> }
> => {
  const { getLlama, LlamaGrammarEvaluationState } = (await import(pathToFileURL(entry).href)) as Library;
  const llama = await getLlama({ gpu: "auto", build: "never", maxThreads: cores, progressLogs: false, logLevel: "error" });
  return {
    onFreeCores: createFreeCores(llama, cores),
    take: createContexts(llama, cores).take,
    begin: async (model, grammar) => new LlamaGrammarEvaluationState({ model, grammar: await llama.createGrammar({ grammar }) }),
  };
};
const opened = open().catch((cause: unknown) => {
  throw new LoadError(String(cause), { cause });
});
opened.catch(() => {}); // whoever asks hears it

process.on("message", async (request: EngineRequest) => {
  const { id } = request;
  if (request.type === "cancel") return void cancelled.add(id);
  try {
    const pieces = createPieces((text) => say({ type: "text", id, text }));
    const { onFreeCores, ...places } = await opened;
    const surroundings = { ...places, onText: pieces.add, cancelled: () => cancelled.has(id) };
    const work = () =>
      request.type === "likeliest"
        ? likeliestAfter(request.prompted, places)
        : generate(request.generation, surroundings).finally(pieces.end);
    say({ type: "done", id, generated: await onFreeCores<Generated | readonly Likely[]>(work) });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    say({ type: "failed", id, message, loaded: !(error instanceof LoadError) });
  } finally {
    cancelled.delete(id);
  }
});
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit());
