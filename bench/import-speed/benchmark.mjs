import { createHash } from "node:crypto";
import { importSessions } from "../../packages/sessions/dist/index.js";
import { interleaved } from "../harness/pairs.mjs";
import { KINDS, MB, pieces, source } from "./recordings.mjs";

/** What the import of one kind of recording costs, beside the least that any reader of JSON lines must do. */
function works(kind, chunks) {
  return {
    "split and JSON.parse": () => {
      for (const chunk of chunks) for (const line of chunk.toString("utf8").split("\n")) if (line !== "") JSON.parse(line);
    },
    "SHA-256": () => chunks.reduce((hash, chunk) => hash.update(chunk), createHash("sha256")).digest(),
    "whole import": () => importSessions([source(kind, () => chunks)], { onSession: () => {} }),
  };
}

export const benchmark = {
  name: "import-speed",
  description: "MB of recordings imported a second of processor time, beside JSON.parse of the same lines",
  options: { megabytes: { type: "string", default: "40" } },
  async run({ options, rounds, print }) {
    const figures = {};
    for (const [kind, make] of Object.entries(KINDS)) {
      const chunks = [...pieces(make, Number(options.megabytes))];
      const megabytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0) / MB;
      const times = await interleaved({ works: works(kind, chunks), rounds });
      figures[kind] = { megabytes, times };
      for (const [what, { median, min, max }] of Object.entries(times))
        print(
          `${kind}: ${what} ${[median, max, min].map((time) => (megabytes / time).toFixed(0)).join(" / ")} MB/s (median, least, most)`,
        );
    }
    return figures;
  },
};
