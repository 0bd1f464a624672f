import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ImprintError } from "../../common/error.js";
import { workerEnvironment } from "../../runners/local/environment.js";
import type { EngineMessage, EngineRequest, Generated, Generation, Likely, Prompted } from "./protocol.js";

/** Beside this module, compiled and bundled; not where tests read the sources. */
const PROGRAM = fileURLToPath(new URL("./llama-process.js", import.meta.url));

export interface LlamaProcess {
  /** Rejects with ImprintError, EXPORT_UNSUPPORTED where llama.cpp or the model cannot be loaded; or with the signal's reason. */
  generate(generation: Generation, onText: (text: string) => void, signal?: AbortSignal): Promise<Generated>;
  /** The likeliest next tokens, the likeliest first. Rejects as `generate` does. */
  likeliest(prompted: Prompted, signal?: AbortSignal): Promise<readonly Likely[]>;
  close(): void;
}

type Question =
  | { readonly type: "generate"; readonly generation: Generation }
  | { readonly type: "likeliest"; readonly prompted: Prompted };

interface Waiting {
  readonly onText: (text: string) => void;
  readonly resolve: (answer: never) => void;
  readonly reject: (error: unknown) => void;
}

/** llama.cpp in a process of its own, started when it is asked, and again after it crashed. */
export const createLlamaProcess = ({
  library,
  program = PROGRAM,
}: {
  /** Entry of node-llama-cpp. */
  readonly library: string;
  readonly program?: string;
}): LlamaProcess => {
  const waiting = new Map<number, Waiting>();
  let child: ChildProcess | undefined;
  let count = 0;

  const failAll = (error: ImprintError): void => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  const receive = (message: EngineMessage): void => {
    const caller = waiting.get(message.id);
    if (message.type === "text") caller?.onText(message.text);
    else waiting.delete(message.id);
    if (message.type === "done") caller?.resolve(message.generated as never);
    else if (message.type === "failed") {
      const code = message.loaded ? "TRAINER_ERROR" : "EXPORT_UNSUPPORTED";
      caller?.reject(new ImprintError(code, `llama.cpp could not answer: ${message.message}`));
    }
  };
  const start = (): ChildProcess => {
    // Steps in turn on Node's four threads, which last slept on any core, put the threads that llama.cpp makes for each on one core.
    const env = { ...workerEnvironment({ source: process.env, allowDownloads: false }), UV_THREADPOOL_SIZE: "1" };
    const started = fork(program, [library], { env, stdio: ["ignore", "ignore", "inherit", "ipc"] });
    const gone = (how: string): void => {
      if (child !== started) return;
      child = undefined;
      failAll(
        new ImprintError("WORKER_CRASHED", `The process that holds llama.cpp ended (${how}); the next chat starts it again.`),
      );
    };
    started.on("message", receive);
    started.on("error", (error) => gone(error.message));
    return started.once("exit", (code, by) => gone(String(by ?? code)));
  };

  const ask = <Answer>(question: Question, onText: (text: string) => void, signal?: AbortSignal): Promise<Answer> => {
    if (signal?.aborted) return Promise.reject(signal.reason);
    child ??= start();
    const asked = child;
    count += 1;
    const id = count;
    const send = (request: EngineRequest): void => void asked.send(request, () => {}); // its end says what is wrong
    const cancel = (): void => {
      send({ type: "cancel", id });
      waiting.get(id)?.reject(signal?.reason);
      waiting.delete(id);
    };
    signal?.addEventListener("abort", cancel, { once: true });
    return new Promise<Answer>((resolve, reject) => {
      waiting.set(id, { onText, resolve, reject });
      send({ ...question, id });
    }).finally(() => signal?.removeEventListener("abort", cancel));
  };

  return {
    generate: (generation, onText, signal) => ask({ type: "generate", generation }, onText, signal),
    likeliest: (prompted, signal) => ask({ type: "likeliest", prompted }, () => {}, signal),
    close: () => {
      child?.kill();
      child = undefined;
      failAll(new ImprintError("SHUTTING_DOWN", "The service is shutting down."));
    },
  };
};
