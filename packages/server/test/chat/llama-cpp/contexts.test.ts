import { expect, test } from "vitest";
import { type Contexts, createContexts, type Place } from "../../../src/chat/llama-cpp/contexts.js";
import type { Llama } from "../../../src/chat/llama-cpp/library.js";

/** A llama.cpp of which only the number of models and contexts counts. */
const start = () => {
  const loaded = new Set<string>();
  const contexts = new Set<object>();
  const sequence = { compareContextTokens: () => ({ firstDifferentIndex: 0 }) };
  const llama = {
    loadModel: async ({ modelPath }: { readonly modelPath: string }) => {
      loaded.add(modelPath);
      return {
        createContext: async () => {
          const context = { getSequence: () => ({ ...sequence }), dispose: async () => void contexts.delete(context) };
          contexts.add(context);
          return context;
        },
        dispose: async () => void loaded.delete(modelPath),
      };
    },
  } as unknown as Llama;
  return { contexts: createContexts(llama, 1), loaded, count: () => contexts.size };
};

const take = (contexts: Contexts, model: string, adapter: string | null = null): Promise<Place> =>
  contexts.take({ model, adapter, tokens: [1], context_length: 8192, room: 10 });
/** Whether it was there before this many others had their turn. */
const isThere = async (place: Promise<Place>): Promise<boolean> => {
  const later = new Promise<false>((resolve) => setImmediate(() => resolve(false)));
  return Promise.race([place.then(() => true), later]);
};

test("of twenty models those stay that were used last, and the others are freed", async () => {
  const { contexts, loaded, count } = start();
  for (let at = 0; at < 20; at += 1) (await take(contexts, `model-${at}`)).release();
  expect([...loaded]).toEqual(["model-16", "model-17", "model-18", "model-19"]);
  expect(count()).toBe(4);
});

test("who waits for a busy adapter holds up nobody else", async () => {
  const { contexts } = start();
  const busy = [await take(contexts, "base", "busy"), await take(contexts, "base", "busy")];
  const third = take(contexts, "base", "busy");
  (await take(contexts, "base", "other")).release();
  (await take(contexts, "base")).release();
  expect(await isThere(third)).toBe(false);
  busy[0]?.release();
  (await third).release();
});

test("who waits for room gets the first that is idle, and those that came later take none of it", async () => {
  const { contexts } = start();
  const all = await Promise.all([0, 1, 2, 3].map((at) => take(contexts, "base", `adapter-${at}`)));
  const fifth = take(contexts, "base", "fifth");
  const again = take(contexts, "base", "adapter-0");
  (await take(contexts, "base", "adapter-3")).release();
  expect(await isThere(again)).toBe(false);
  all[0]?.release();
  const place = await fifth;
  all[1]?.release();
  (await again).release();
  place.release();
});
