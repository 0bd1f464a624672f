#!/usr/bin/env node
// How fast and in how much memory large logs are imported:
//   node packages/sessions/bench/throughput.mjs               processor time per MB, against JSON.parse of the same lines
//   node packages/sessions/bench/throughput.mjs memory KIND   peak memory of one import of 500 MB; KIND is claude-code or chat
import { createHash } from "node:crypto";
import { importSessions } from "../dist/index.js";
import { findSecrets } from "../dist/redact/find-secrets.js";

const MB = 1_000_000;
const ROUNDS = 5;

const CODE = `export function resolve(paths: readonly string[], root = "/srv/app"): string[] {
  // Later paths win, as in the shell.
  return paths.map((path) => (path.startsWith("/") ? path : \`\${root}/\${path}\`)).filter((path) => path !== "");
}
const table: Record<string, number> = { alpha: 1, beta: 22, gamma_ray: 333, "delta-wing": 4444 };
`;

/** A turn of a Claude Code log: an answer with a call, and some 4 kB of code as its result. */
function claudeTurn(index) {
  const common = { sessionId: "bench", version: "2.1.0", isSidechain: false, timestamp: "2026-01-05T10:00:00.000Z" };
  const content = [
    { type: "text", text: `Reading part ${index}. It should say how paths resolve.` },
    { type: "tool_use", id: `t${index}`, name: "Read", input: { file_path: `src/part-${index}.ts`, limit: 200 } },
  ];
  const usage = { input_tokens: 4, output_tokens: 120, cache_read_input_tokens: 20_000 };
  const message = { id: `m${index}`, role: "assistant", model: "m-1", content, usage };
  const result = { role: "user", content: [{ type: "tool_result", tool_use_id: `t${index}`, content: CODE.repeat(10) }] };
  return [
    JSON.stringify({ type: "assistant", uuid: `a${index}`, parentUuid: `u${index - 1}`, ...common, message }),
    JSON.stringify({ type: "user", uuid: `u${index}`, parentUuid: `a${index}`, ...common, message: result }),
  ].join("\n");
}

const chatRecord = (index) =>
  JSON.stringify({
    messages: [
      { role: "user", content: `Explain part ${index}.` },
      { role: "assistant", content: CODE.repeat(4) },
    ],
  });

const KINDS = { "claude-code": claudeTurn, chat: chatRecord };

function* pieces(make, megabytes) {
  let index = 0;
  for (let sent = 0; sent < megabytes * MB; ) {
    const piece = Buffer.from(`${Array.from({ length: 20 }, () => make(index++)).join("\n")}\n`);
    sent += piece.length;
    yield piece;
  }
}

const source = (name, chunks) => ({
  name,
  bytes: async function* () {
    yield* chunks();
  },
});

/** The best of a few rounds, in MB per second of this process's processor time. */
async function rate(megabytes, work) {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(start);
    best = Math.min(best, user + system);
  }
  return (megabytes / (best / 1e6)).toFixed(0);
}

async function speed(kind) {
  const chunks = [...pieces(KINDS[kind], 40)];
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0) / MB;
  const texts = Array.from({ length: 2000 }, () => Buffer.from(CODE.repeat(10)).toString());
  const rates = {
    "SHA-256": await rate(bytes, () => chunks.reduce((hash, chunk) => hash.update(chunk), createHash("sha256")).digest()),
    "split and JSON.parse": await rate(bytes, () => {
      for (const chunk of chunks) for (const line of chunk.toString("utf8").split("\n")) if (line !== "") JSON.parse(line);
    }),
    "search for secrets, per MB of text": await rate((texts.length * CODE.length * 10) / MB, () => texts.forEach(findSecrets)),
    "whole import": await rate(bytes, () => importSessions([source(kind, () => chunks)], { onSession: () => {} })),
  };
  for (const [what, value] of Object.entries(rates)) console.log(`${kind}: ${what} ${value} MB/s`);
}

async function memory(kind) {
  const start = performance.now();
  const imported = await importSessions([source(kind, () => pieces(KINDS[kind], 500))], { onSession: () => {} });
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  const peak = (process.resourceUsage().maxRSS / 1024).toFixed(0);
  console.log(
    `${kind}: 500 MB, ${imported.session_count} sessions, ${imported.counts.assistant_turns} answers: peak ${peak} MiB, ${seconds} s`,
  );
}

const [mode, kind] = process.argv.slice(2);
if (mode === "memory" && kind in KINDS) await memory(kind);
else for (const each of Object.keys(KINDS)) await speed(each);
