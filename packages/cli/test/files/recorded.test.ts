import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { importSessions } from "@imprint/sessions";
import { expect, it, onTestFinished } from "vitest";
import type { Candidate } from "../../src/files/candidate.js";
import { bodyOf, sourcesOf } from "../../src/files/recorded.js";
import { walk } from "../../src/files/walk.js";

const line = (type: string, content: unknown): string =>
  JSON.stringify({ type, sessionId: "s", uuid: JSON.stringify(content), message: { role: type, content } });

/** The one recording of a folder with these files. */
async function recording(files: Readonly<Record<string, string>>): Promise<Candidate> {
  const root = await mkdtemp(path.join(tmpdir(), "imprint-recorded-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(root, name), text);
  const [first, ...more] = (await walk([root])).candidates;
  if (first === undefined || more.length > 0) throw new Error("not one candidate");
  return first;
}

it("sends the pieces of a recording that was cut as the whole that they were", async () => {
  const cut = await recording({
    "full.jsonl.001": line("assistant", [{ type: "tool_use", id: "c", name: "Bash", input: {} }]),
    "full.jsonl": [line("user", "One"), line("user", "Two")].join("\n"),
    "full.jsonl.002": line("user", [{ type: "tool_result", tool_use_id: "c", content: "ok" }]),
  });
  const whole = { user_turns: 2, assistant_turns: 1, tool_calls: 1, tool_results: 1 };
  const sent = await importSessions([{ name: "body", bytes: bodyOf(cut) }]);
  expect([sent.session_count, sent.counts, sent.bad_lines]).toEqual([1, whole, 0]);
  expect((await importSessions(sourcesOf(cut))).counts).toEqual(whole);
});
