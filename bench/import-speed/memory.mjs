#!/usr/bin/env node
// Peak memory of one import of 500 MB, in a process of its own: node bench/import-speed/memory.mjs KIND (claude-code or chat)
import { importSessions } from "../../packages/sessions/dist/index.js";
import { KINDS, pieces, source } from "./recordings.mjs";

async function memory(kind) {
  const start = performance.now();
  const imported = await importSessions([source(kind, () => pieces(KINDS[kind], 500))], { onSession: () => {} });
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  const peak = (process.resourceUsage().maxRSS / 1024).toFixed(0);
  console.log(
    `${kind}: 500 MB, ${imported.session_count} sessions, ${imported.counts.assistant_turns} answers: peak ${peak} MiB, ${seconds} s`,
  );
}

const [kind] = process.argv.slice(2);
if (kind in KINDS) await memory(kind);
else {
  console.error(`Usage: node bench/import-speed/memory.mjs KIND, with KIND one of ${Object.keys(KINDS).join(", ")}`);
  process.exitCode = 2;
}
