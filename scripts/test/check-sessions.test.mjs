import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as sessions from "@imprint/sessions";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkSessions } from "../../packages/sessions/test/support/session-check.mjs";

const recorded = fileURLToPath(new URL("../../../shared/sessions", import.meta.url));

describe("checkSessions", () => {
  let directory;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "check-sessions-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  const chat = '{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}\n';
  const right = {
    format: "chat-jsonl",
    user_turns: 1,
    assistant_turns: { min: 1, max: 2 },
    tool_calls: 0,
    tool_results: 0,
    bad_lines: 0,
    final_signal: null,
  };
  const check = async (file, expected) => {
    await writeFile(join(directory, "a.jsonl"), file);
    await writeFile(join(directory, "expected.json"), JSON.stringify({ "a.jsonl": expected }));
    return checkSessions(sessions, directory);
  };

  it("passes what agrees, in exact numbers and in ranges", async () =>
    expect(await check(chat, right)).toEqual({ passed: 1, failed: [] }));

  it.each([
    [{ user_turns: 2 }, "user_turns: 1, expected 2"],
    [{ assistant_turns: { min: 2, max: 3 } }, 'assistant_turns: 1, expected {"min":2,"max":3}'],
    [{ format: "codex" }, "format: chat-jsonl, expected codex"],
    [{ final_signal: "finish" }, "end signal: null, expected finish"],
  ])("fails on %j", async (wrong, difference) =>
    expect(await check(chat, { ...right, ...wrong })).toEqual({
      passed: 0,
      failed: [{ name: "a.jsonl", differences: [difference] }],
    }),
  );

  it("lets only files without defined numbers be refused", async () => {
    const undefinedNumbers = { user_turns: null, assistant_turns: null, tool_calls: null, tool_results: null };
    expect((await check("prose\n", right)).passed).toBe(0);
    expect((await check("prose\n", { ...right, ...undefinedNumbers })).passed).toBe(1);
  });

  it("reads a folder as one session", async () => {
    await mkdir(join(directory, "conv", "events"), { recursive: true });
    const event = {
      id: "e",
      kind: "MessageEvent",
      source: "user",
      llm_message: { role: "user", content: [{ type: "text", text: "q" }] },
    };
    await writeFile(join(directory, "conv", "events", "event-00000-x.json"), JSON.stringify(event));
    await writeFile(
      join(directory, "expected.json"),
      JSON.stringify({ conv: { ...right, format: "openhands-v1", assistant_turns: 0 } }),
    );
    expect(await checkSessions(sessions, directory)).toEqual({ passed: 1, failed: [] });
  });
});

describe("recorded sessions", () => {
  // Kept beside the repository where they are at hand, never in it: other people's words.
  const folders = [recorded].filter((folder) => existsSync(join(folder, "expected.json")));

  it("that stand beside the repository are reported as their table expects", async () => {
    for (const folder of folders) expect((await checkSessions(sessions, folder)).failed).toEqual([]);
  });
});
