import { closeSync, openSync, writeSync } from "node:fs";
import path from "node:path";

const head = (id) => ({
  schema_version: 1,
  session_id: id,
  source: { format: "chat-jsonl", format_version: null, agent: null, model: null, sha256: "0".repeat(64) },
  task_type: null,
  outcome: "success",
  outcome_signal: null,
  started_at: null,
  tools: [],
  bad_lines: 0,
  dropped: [],
  redactions: [],
});

/** Writes a stored session of `count` such pairs of steps into the folder of sessions. */
export function putSession(folder, { id, count, text }) {
  const file = openSync(path.join(folder, `${id}.json`), "wx");
  const pair = [
    { source: "user", text },
    { source: "agent", text },
  ];
  const some = (pairs) => JSON.stringify(Array.from({ length: pairs }, () => pair).flat()).slice(1, -1);
  const piece = some(100);
  writeSync(file, `${JSON.stringify(head(id)).slice(0, -1)},"steps":[`);
  for (let left = count; left > 0; left -= 100) writeSync(file, left === count ? piece : `,${piece}`);
  writeSync(file, "]}");
  closeSync(file);
}

const WORDS = "The gate takes the ports 7001 to 7042, and the check rejects all others. ";
export const LARGE = { id: "large", count: 11_000, text: WORDS.repeat(40) };
/** A million steps of 29 bytes each. */
export const LONG = { id: "long", count: 500_000, text: "" };
