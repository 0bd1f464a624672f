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
  /** Tokens that it has room for. */
  readonly size: number;
  release(): void;
}

/** `tokens` are those that are there, `room` how many more may come. */
export interface ContextRequest extends Pick<Generation, "model" | "adapter" | "tokens" | "context_length"> {
  readonly room: number;
}

interface Entry {
  readonly key: string;
  readonly model: Model;
  readonly context: Context;
  /** The least recently used first. */
  free: Sequence[];
}

const sizeFor = ({ tokens, room, context_length }: ContextRequest): number => {
  let size = LEAST_TOKENS;
  while (size < tokens.length + room) size *= 2;
  return Math.min(size, context_length);
};

export interface Contexts {
  take(request: ContextRequest): Promise<Place>;
}

/** Where answers are generated: models, and contexts of them with an adapter each. */
export const createContexts = (llama: Llama, threads: number): Contexts => {
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

  const open = async (key: string, request: ContextRequest): Promise<Entry> => {
    const model = await modelOf(request.model);
    const lora = request.adapter === null ? {} : { lora: { adapters: [{ filePath: request.adapter }] } };
    const size = { contextSize: sizeFor(request), sequences: SEQUENCES, threads };
    const context = await model.createContext({ ...size, failedCreationRemedy: false, ...lora });
    return { key, model, context, free: Array.from({ length: SEQUENCES }, () => context.getSequence()) };
  };

  /** Null where all are at work. */
  const find = async (key: string, request: ContextRequest): Promise<Entry | null> => {
    const known = entries.get(key);
    if (known) return known.free.length > 0 ? known : null;
    return (await makeRoom()) ? await open(key, request) : null;
  };

  const take = async (request: ContextRequest): Promise<Place> => {
    const { model: file, adapter, tokens } = request;
    const key = JSON.stringify([file, adapter, sizeFor(request)]);
    for (;;) {
      const entry = await find(key, request);
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
        return { model: entry.model, sequence, size: sizeFor(request), release };
      }
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };

  return {
    // One after the other: whoever waits for a place waits for those before.
    take: (request) => {
      const place = turn.then(() => take(request));
      turn = place.catch(() => {});
      return place;
    },
  };
};
