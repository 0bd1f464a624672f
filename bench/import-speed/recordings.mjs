export const MB = 1_000_000;

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

/** A piece of a recording of each kind, by its number. */
export const KINDS = { "claude-code": claudeTurn, chat: chatRecord };

/** Some `megabytes` of a recording, in pieces of some twenty turns. */
export function* pieces(make, megabytes) {
  let index = 0;
  for (let sent = 0; sent < megabytes * MB; ) {
    const piece = Buffer.from(`${Array.from({ length: 20 }, () => make(index++)).join("\n")}\n`);
    sent += piece.length;
    yield piece;
  }
}

/** A file of these pieces, read anew each time. */
export const source = (name, chunks) => ({
  name,
  bytes: async function* () {
    yield* chunks();
  },
});
