import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { llamaCppEntry } from "../../src/chat/choose.js";
import { readSetup } from "../../src/config/setup.js";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** What a model says after a prompt: the likeliest token each time, and the first one's probabilities. */
export interface Answer {
  readonly greedy: readonly number[];
  readonly next: ReadonlyMap<number, number>;
}

/** The part of node-llama-cpp that is used here; its types are there only once it is installed. */
interface LlamaCpp {
  getLlama(options: object): Promise<{ loadModel(options: object): Promise<Model>; dispose(): Promise<void> }>;
}
interface Model {
  createContext(options: object): Promise<{ getSequence(): Sequence; dispose(): Promise<void> }>;
}
interface Sequence {
  evaluateWithMetadata(
    tokens: readonly number[],
    metadata: object,
    options: object,
  ): AsyncIterable<{ readonly token: number; readonly probabilities?: ReadonlyMap<number, number> }>;
}

/** The default model's file for llama.cpp, which the set-up wrote beside its weights. */
export const baseGguf = (): string => {
  const setup = readSetup(ROOT);
  const file = join(setup?.models[setup.default_model] ?? "", "llama-cpp-1-nf4.gguf");
  if (!existsSync(file)) throw new Error("llama.cpp is not set up: npm run setup installs it");
  return file;
};

/** Answers of a real llama.cpp on the CPU, without and with a LoRA file. Throws a sentence where this platform has no build of it. */
export const askLlamaCpp = async (
  model: string,
  lora: string | null,
  prompts: readonly (readonly number[])[],
  tokens: number,
): Promise<readonly Answer[]> => {
  const entry = pathToFileURL(llamaCppEntry(ROOT)).href;
  const { getLlama } = (await import(/* @vite-ignore */ entry)) as LlamaCpp;
  // Its threads wait for each other in loops: two of them stand still while another test computes.
  const options = { gpu: false, build: "never", maxThreads: 1, progressLogs: false, logLevel: "error" };
  const llama = await getLlama(options).catch((cause) => {
    throw new Error(`node-llama-cpp has no prebuilt llama.cpp for ${process.platform} ${process.arch}`, { cause });
  });
  try {
    const loaded = await llama.loadModel({ modelPath: model });
    const adapters = lora === null ? {} : { lora: { adapters: [{ filePath: lora }] } };
    const answers: Answer[] = [];
    for (const prompt of prompts) {
      const context = await loaded.createContext({ contextSize: 256, threads: 1, ...adapters });
      answers.push(await answerOf(context.getSequence(), prompt, tokens));
      await context.dispose();
    }
    return answers;
  } finally {
    await llama.dispose();
  }
};

const answerOf = async (sequence: Sequence, prompt: readonly number[], tokens: number): Promise<Answer> => {
  const greedy: number[] = [];
  let next: ReadonlyMap<number, number> = new Map();
  for await (const { token, probabilities } of sequence.evaluateWithMetadata(
    prompt,
    { probabilities: true },
    { temperature: 0 },
  )) {
    if (greedy.length === 0) next = probabilities ?? next;
    greedy.push(token);
    if (greedy.length === tokens) break;
  }
  return { greedy, next };
};
