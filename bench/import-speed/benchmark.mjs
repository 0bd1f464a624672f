import { readFileSync } from "node:fs";
import path from "node:path";
import { importSessions, SessionUnreadable } from "../../packages/sessions/dist/index.js";
import { filesBelow } from "../../scripts/lib/canonical-sessions.mjs";
import { userPath } from "../../scripts/lib/trainer.mjs";
import { UsageError } from "../harness/main.mjs";
import { interleaved } from "../harness/pairs.mjs";

/** What the import of recordings costs, beside the least that any reader of JSON lines must do. */
const works = (recordings) => ({
  "split and JSON.parse": () => {
    for (const { bytes } of recordings)
      for (const line of bytes.toString("utf8").split("\n")) if (line.trim() !== "") JSON.parse(line);
  },
  "whole import": async () => {
    for (const one of recordings) // of one that is refused: what the refusal costs
      await importSessions([one]).catch((error) => error instanceof SessionUnreadable || Promise.reject(error));
  },
});

export const benchmark = {
  name: "import-speed",
  description: "MB of recordings (.jsonl) imported a second of processor time, beside JSON.parse of the same lines",
  options: { recordings: { type: "string" } },
  async run({ options: { recordings: folder }, rounds, print }) {
    const files = (folder ? await filesBelow(userPath(folder)) : []).filter((file) => file.endsWith(".jsonl"));
    if (files.length === 0) throw new UsageError("--recordings names a folder that holds .jsonl, as ~/.claude/projects");
    const recordings = files.map((file) => ({ name: path.basename(file), bytes: readFileSync(file) }));
    const megabytes = recordings.reduce((sum, { bytes }) => sum + bytes.length, 0) / 1e6;
    const times = await interleaved({ works: works(recordings), rounds });
    for (const [what, { median, min, max }] of Object.entries(times)) {
      const speeds = [median, max, min].map((time) => (megabytes / time).toFixed(0)).join(" / ");
      print(`${what} of ${megabytes.toFixed(1)} MB: ${speeds} MB/s (median, least, most)`);
    }
    return { megabytes, times };
  },
};
