import type { Context, Llama, Model, Sequence } from "./library.js";
import type { Generation } from "./protocol.js";

/** Contexts that stay, one an adapter; the least recently used makes room. */
const CONTEXTS = 4;
/** Conversations of an adapter that are answered at once, in one batch. */
const SEQUENCES = 2;
/** Contexts come in powers of two of this: a conversation that grows keeps its own for a while. */
const LEAST_TOKENS = 2048;

export interface Place {
  readonly model: Model;
  readonly sequence: Sequence;
  release(): void;
}

interface Entry {
  readonly key: string;
  readonly model: Model;
  readonly context: Context;
  /** The least recently used first. */
  free: Sequence[];
}

const sizeFor = ({ tokens, max_new_tokens, context_length }: Generation): number => {
  let size = LEAST_TOKENS;
  while (size < tokens.length + max_new_tokens) size *= 2;
  return Math.min(size, context_length);
};

/** Where generations take place: models, and contexts of them with an adapter each. */
export const createContexts = (llama: Llama, threads: number): { take(generation: Generation): Promise<Place> } => {
  const models = new Map<string, Promise<Model>>();
  const entries = new Map<string, Entry>(); // the least recently used first
  const waiting: (() => void)[] = [];
  let turn: Promise<unknown> = Promise.resolve();

  const modelOf = (file: string): Promise<Model> => {
    const loaded = models.get(file) ?? llama.loadModel({ modelPath: file });
    models.set(file, loaded);
    loaded.catch(() => models.delete(file));
    return loaded;
  };

  const makeRoom = async (): Promise<boolean> => {
    if (entries.size < CONTEXTS) return true;
    const idle = [...entries.values()].find(({ free }) => free.length === SEQUENCES);
    if (!idle) return false;
    entries.delete(idle.key);
    await idle.context.dispose();
    return true;
  };

  const open = async (key: string, generation: Generation): Promise<Entry> => {
    const model = await modelOf(generation.model);
    const lora = generation.adapter === null ? {} : { lora: { adapters: [{ filePath: generation.adapter }] } };
    const size = { contextSize: sizeFor(generation), sequences: SEQUENCES, threads };
    const context = await model.createContext({ ...size, failedCreationRemedy: false, ...lora });
    return { key, model, context, free: Array.from({ length: SEQUENCES }, () => context.getSequence()) };
  };

  /** Null where all are at work. */
  const find = async (key: string, generation: Generation): Promise<Entry | null> => {
    const known = entries.get(key);
    if (known) return known.free.length > 0 ? known : null;
    return (await makeRoom()) ? await open(key, generation) : null;
  };

  const take = async (generation: Generation): Promise<Place> => {
    const { model: file, adapter, tokens } = generation;
    const key = JSON.stringify([file, adapter, sizeFor(generation)]);
    for (;;) {
      const entry = await find(key, generation);
      if (entry) {
        entries.delete(key);
        entries.set(key, entry);
        const shared = (sequence: Sequence): number => sequence.compareContextTokens(tokens).firstDifferentIndex;
        const sequence = entry.free.reduce((best, next) => (shared(next) > shared(best) ? next : best));
        entry.free = entry.free.filter((one) => one !== sequence);
        const release = (): void => {
          entry.free.push(sequence);
          for (const wake of waiting.splice(0)) wake();
        };
        return { model: entry.model, sequence, release };
      }
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };

  return {
    // One after the other: whoever waits for a place waits for those before.
    take: (generation) => {
      const place = turn.then(() => take(generation));
      turn = place.catch(() => {});
      return place;
    },
  };
};
