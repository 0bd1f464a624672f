import type { Context, Llama, Model, Sequence } from "./library.js";
import type { Generation } from "./protocol.js";

/** llama.cpp, or a model, that cannot be loaded here. */
export class LoadError extends Error {}

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
  /** Of its model. */
  readonly file: string;
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

interface Waiting {
  readonly key: string;
  readonly request: ContextRequest;
  readonly resolve: (place: Place) => void;
  readonly reject: (error: unknown) => void;
}

/** Where answers are generated: models, and contexts of them with an adapter each. A model goes with its last context. */
export const createContexts = (llama: Llama, threads: number): Contexts => {
  const models = new Map<string, Promise<Model>>();
  const entries = new Map<string, Entry>(); // the least recently used first
  const waiting = new Set<Waiting>(); // in the order in which they came
  let turn: Promise<unknown> = Promise.resolve();

  const modelOf = (file: string): Promise<Model> => {
    const loaded =
      models.get(file) ??
      llama.loadModel({ modelPath: file }).catch((cause: unknown) => {
        throw new LoadError(String(cause), { cause });
      });
    models.set(file, loaded);
    loaded.catch(() => models.delete(file));
    return loaded;
  };

  const freeUnused = async (file: string): Promise<void> => {
    const model = models.get(file);
    if (model === undefined || [...entries.values()].some((entry) => entry.file === file)) return;
    models.delete(file);
    await (await model).dispose();
  };

  const makeRoom = async (file: string): Promise<boolean> => {
    if (entries.size < CONTEXTS) return true;
    const idle = [...entries.values()].find(({ free }) => free.length === SEQUENCES);
    if (!idle) return false;
    entries.delete(idle.key);
    await idle.context.dispose();
    if (idle.file !== file) await freeUnused(idle.file);
    return true;
  };

  const open = async ({ key, request }: Waiting): Promise<Entry> => {
    const model = await modelOf(request.model);
    const lora = request.adapter === null ? {} : { lora: { adapters: [{ filePath: request.adapter }] } };
    const size = { contextSize: sizeFor(request), sequences: SEQUENCES, threads: { ideal: threads, min: 1 } };
    const context = await model.createContext({ ...size, failedCreationRemedy: false, ...lora }).catch(async (error: unknown) => {
      await freeUnused(request.model);
      throw error;
    });
    const free = Array.from({ length: SEQUENCES }, () => context.getSequence());
    return { key, file: request.model, model, context, free };
  };

  const placeIn = (entry: Entry, request: ContextRequest): Place => {
    entries.delete(entry.key);
    entries.set(entry.key, entry);
    const shared = (sequence: Sequence): number => sequence.compareContextTokens(request.tokens).firstDifferentIndex;
    const sequence = entry.free.reduce((best, next) => (shared(next) > shared(best) ? next : best));
    entry.free = entry.free.filter((one) => one !== sequence);
    const release = (): void => {
      entry.free.push(sequence);
      serveNext();
    };
    return { model: entry.model, sequence, size: sizeFor(request), release };
  };

  /** Everyone for whom there is a place, in their order: who waits for a busy adapter holds up nobody else. */
  const serve = async (): Promise<void> => {
    /** Contexts kept for who waits for room: the least recently used take no more, and the first that is idle makes room. */
    const kept = new Set<Entry>();
    for (const one of [...waiting]) {
      const known = entries.get(one.key);
      try {
        if (known ? kept.has(known) || known.free.length === 0 : !(await makeRoom(one.request.model))) {
          const next = known ? undefined : [...entries.values()].find((entry) => !kept.has(entry));
          if (next) kept.add(next);
          continue;
        }
        one.resolve(placeIn(known ?? (await open(one)), one.request));
      } catch (error) {
        one.reject(error);
      }
      waiting.delete(one);
    }
  };
  // One after the other: models and contexts are loaded meanwhile.
  const serveNext = (): void => {
    turn = turn.then(serve);
  };

  return {
    take: (request) =>
      new Promise((resolve, reject) => {
        const key = JSON.stringify([request.model, request.adapter, sizeFor(request)]);
        waiting.add({ key, request, resolve, reject });
        serveNext();
      }),
  };
};
