import { importSessions } from "../../packages/sessions/dist/index.js";
import { leaves } from "./session.mjs";

/** What a session became: every string of the canonical session that the importer gives. */
export const importer = {
  name: "imprint",
  async read(recording) {
    const imported = await importSessions([{ name: "bench.jsonl", bytes: Buffer.from(recording) }]);
    return leaves(imported.sessions).join("\n");
  },
};

/** A scanner of texts, asked about every string of a recording on its own. */
export const scanner = ({ name, redact }) => ({
  name,
  redact,
  async read(recording) {
    const records = recording
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const texts = [];
    for (const text of leaves(records)) texts.push(await redact(text));
    return texts.join("\n");
  },
});

/** Finds nothing: its figures say what the corpus calls found and false by itself. */
export const nothing = scanner({ name: "nothing", redact: (text) => text });
