#!/usr/bin/env node
// How fast and in how much memory a large log is imported: node packages/sessions/bench/throughput.mjs [MEGABYTES]
// Reports MB/s of processor time of this thread's work for JSON.parse alone and for the whole import, and the peak memory.
import { importSessions } from "../dist/index.js";

const megabytes = Number(process.argv[2] ?? 100);
const MB = 1_000_000;

const CODE = `export function resolve(paths: readonly string[], root = "/srv/app"): string[] {
  // Later paths win, as in the shell.
  return paths.map((path) => (path.startsWith("/") ? path : \`\${root}/\${path}\`)).filter((path) => path !== "");
}
const table: Record<string, number> = { alpha: 1, beta: 22, gamma_ray: 333, "delta-wing": 4444 };
`;

/** Lines of a Claude Code log in which each turn runs a tool whose output is some 4 kB of code. */
function claudeTurn(index) {
  const id = (kind) => `${kind}-${index}`;
  const line = (type, uuid, parentUuid, message) =>
    JSON.stringify({
      type,
      uuid,
      parentUuid,
      sessionId: "bench",
      version: "2.1.0",
      isSidechain: false,
      timestamp: "2026-01-05T10:00:00.000Z",
      message,
    });
  const content = [
    { type: "text", text: `Reading part ${index}. It should say how paths resolve.` },
    { type: "tool_use", id: id("t"), name: "Read", input: { file_path: `src/part-${index}.ts`, limit: 200 } },
  ];
  const usage = { input_tokens: 4, output_tokens: 120, cache_read_input_tokens: 20_000 };
  return [
    line("assistant", id("a"), id("r"), { id: id("m"), role: "assistant", model: "m-1", content, usage }),
    line("user", id("u"), id("a"), {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: id("t"), content: CODE.repeat(10) }],
    }),
  ].join("\n");
}

function chatRecord(index) {
  const messages = [
    { role: "user", content: `Explain part ${index}.` },
    { role: "assistant", content: CODE.repeat(4) },
  ];
  return JSON.stringify({ messages });
}

function* pieces(make) {
  let index = 0;
  for (let sent = 0; sent < megabytes * MB; ) {
    const lines = [];
    for (let count = 0; count < 20; count++) lines.push(make(index++));
    const piece = Buffer.from(`${lines.join("\n")}\n`);
    sent += piece.length;
    yield piece;
  }
}

/** Milliseconds of processor time that `work` takes, less what making the log itself takes. */
async function cost(work) {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

async function measure(name, make) {
  const source = {
    name,
    bytes: async function* () {
      yield* pieces(make);
    },
  };
  const making = await cost(() => {
    for (const _ of pieces(make));
  });
  const parsing = await cost(() => {
    for (const piece of pieces(make)) for (const line of piece.toString("utf8").split("\n")) if (line !== "") JSON.parse(line);
  });
  const importing = await cost(() => importSessions([source], name === "chat" ? { onSession: () => {} } : {}));
  // Handing sessions over one by one reads the file twice, for its hash.
  const made = name === "chat" ? 2 * making : making;
  const rate = (milliseconds) => (megabytes / (milliseconds / 1000)).toFixed(0);
  const peak = (process.resourceUsage().maxRSS / 1024).toFixed(0);
  console.log(
    `${name}: split and JSON.parse ${rate(parsing - making)} MB/s, whole import ${rate(importing - made)} MB/s, peak memory ${peak} MiB`,
  );
}

await measure("claude-code", claudeTurn);
await measure("chat", chatRecord);
