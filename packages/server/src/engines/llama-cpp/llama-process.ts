import { availableParallelism } from "node:os";
import { pathToFileURL } from "node:url";
import { createContexts } from "./contexts.js";
import { generate } from "./generate.js";
import type { Library } from "./library.js";
import type { EngineMessage, EngineRequest } from "./protocol.js";

/** The process that holds llama.cpp, whose crash must not be the service's. Its argument is the library's entry. */
const [entry = ""] = process.argv.slice(2);
// llama.cpp's threads wait for each other in loops: as many as there are cores stand still beside a training.
const threads = Math.max(1, Math.floor(availableParallelism() / 2));
const cancelled = new Set<number>();
const say = (message: EngineMessage): void => void process.send?.(message);

const contexts = (import(pathToFileURL(entry).href) as Promise<Library>)
  .then(({ getLlama }) => getLlama({ gpu: "auto", build: "never", maxThreads: threads, progressLogs: false, logLevel: "error" }))
  .then((llama) => createContexts(llama, threads));
contexts.catch(() => {}); // whoever asks hears it

process.on("message", async (request: EngineRequest) => {
  const { id } = request;
  if (request.type === "cancel") return void cancelled.add(id);
  try {
    const place = await (await contexts).take(request.generation);
    try {
      const onText = (text: string): void => say({ type: "text", id, text });
      if (cancelled.has(id)) return;
      const listeners = { onText, cancelled: () => cancelled.has(id) };
      say({ type: "done", id, generated: await generate(request.generation, place, listeners) });
    } finally {
      place.release();
      cancelled.delete(id);
    }
  } catch (error) {
    say({ type: "failed", id, message: error instanceof Error ? error.message : String(error) });
  }
});
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit());
