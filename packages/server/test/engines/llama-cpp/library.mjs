// Stands in for node-llama-cpp: a model that says its prompt's last token again and again, in letters, and the adapter's name
// before; "crash" in the model's path ends the process as a native crash would.
export const getLlama = async () => ({
  loadModel: async ({ modelPath }) => ({
    detokenize: (tokens) => String.fromCharCode(...tokens),
    createContext: async ({ lora, sequences }) => ({
      getSequence: () => sequence(modelPath, lora?.adapters[0].filePath ?? ""),
      dispose: async () => {},
      sequences,
    }),
  }),
});

function sequence(model, adapter) {
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
    async *evaluate(tokens) {
      if (model.includes("crash")) process.kill(process.pid, "SIGSEGV");
      state.push(...tokens);
      const last = tokens.at(-1);
      for (const letter of adapter) {
        state.push(letter.charCodeAt(0));
        yield letter.charCodeAt(0);
      }
      for (;;) {
        await new Promise(setImmediate);
        state.push(last);
        yield last;
      }
    },
  };
}
