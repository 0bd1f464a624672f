// Stands in for node-llama-cpp: a model that says its prompt's last token again and again, in letters, and the adapter's name
// before ("size" is the size of its context, "pool" that of Node's threads, "choosing" how tokens are chosen, "long" an answer that neither ends nor repeats itself); "crash" in the model's file, or the path of one that is not there, ends the process as a native crash would. Under a grammar it says the grammar, and ends.
import { existsSync, readFileSync } from "node:fs";

export class LlamaGrammarEvaluationState {
  constructor({ grammar: { grammar } }) {
    this.rest = [...grammar].map((letter) => letter.charCodeAt(0));
  }
}

const END = 0;

const llama = {
  createGrammar: async ({ grammar }) => ({ grammar }),
  loadModel: async ({ modelPath }) => {
    const model = existsSync(modelPath) ? readFileSync(modelPath, "utf8") : modelPath;
    if (model === "unloadable") throw new Error("no such tensors");
    return {
      detokenize: (tokens) => String.fromCharCode(...tokens),
      isEogToken: (token) => token === END,
      createContext: async ({ lora, sequences, contextSize }) => ({
        getSequence: () => sequence(model, lora?.adapters[0].filePath ?? "", contextSize),
        dispose: async () => {},
        sequences,
      }),
    };
  },
};
export const getLlama = async () => llama;

function sequence(model, adapter, size) {
  let state = [];
  const shared = (tokens) => {
    const at = tokens.findIndex((token, place) => token !== state[place]);
    return at < 0 ? tokens.length : at;
  };
  return {
    get nextTokenIndex() {
      return state.length;
    },
    compareContextTokens: (tokens) => ({ firstDifferentIndex: shared(tokens) }),
    adaptStateToTokens: async (tokens) => {
      state = state.slice(0, shared(tokens));
    },
    async *evaluateWithMetadata() {
      const isAdapted = adapter !== "" && !adapter.includes("idle");
      const likely = isAdapted ? Math.exp(-0.75) : Math.exp(-0.25);
      yield {
        token: 7,
        probabilities: new Map([
          [9, 0.01],
          [7, likely],
        ]),
      };
    },
    async *evaluate(tokens, { grammarEvaluationState = () => undefined, ...choosing }) {
      if (model.includes("crash")) process.kill(process.pid, "SIGSEGV");
      state.push(...tokens);
      const last = tokens.at(-1);
      const words =
        {
          size: String(size),
          threads: String(llama.maxThreads),
          pool: process.env.UV_THREADPOOL_SIZE,
          choosing: JSON.stringify(choosing),
        }[adapter] ?? adapter;
      let next = 0;
      for (;;) {
        await new Promise(setImmediate);
        if (state.length > size) throw new Error("the context is full");
        const held = grammarEvaluationState();
        const said =
          adapter === "long" ? 97 + ((next * Math.floor(next / 20)) % 26) : next < words.length ? words.charCodeAt(next) : last;
        const token = held ? (held.rest.shift() ?? END) : said;
        next += 1;
        state.push(token);
        yield token;
      }
    },
  };
}
