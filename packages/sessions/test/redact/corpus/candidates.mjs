import { leaves } from "./session.mjs";

const SHORT = 40;

/** What a session became: every string of the canonical session that the importer gives. */
export const importer = (importSessions) => ({
  name: "imprint",
  async read(recording) {
    const imported = await importSessions([{ name: "bench.jsonl", bytes: Buffer.from(recording) }]);
    return leaves(imported.sessions).join("\n");
  },
});

/** A scanner of texts, asked about every string of a recording on its own (once for each: names of fields repeat). */
export function scanner({ name, redact }) {
  const known = new Map();
  const short = async (text) => {
    if (!known.has(text)) known.set(text, await redact(text));
    return known.get(text);
  };
  return {
    name,
    async read(recording) {
      const records = recording
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      const texts = [];
      for (const text of leaves(records)) texts.push(await (text.length < SHORT ? short(text) : redact(text)));
      return texts.join("\n");
    },
  };
}

/** Finds nothing: its figures say what the corpus calls found and false by itself. */
export const nothing = scanner({ name: "nothing", redact: (text) => text });
