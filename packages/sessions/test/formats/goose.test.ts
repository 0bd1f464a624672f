import { expect, it } from "vitest";
import { answersOf, droppedOf, importCase, importText, jsonLines, usersOf } from "../support/import-text.js";

/** Recorded with Goose 1.52: a call that the person declined, a compaction, and a request that was called off. */
it("reads what `goose session export` prints, without what Goose itself said", async () => {
  const imported = await importCase("goose-export.json");
  expect(imported.sessions).toMatchObject([
    {
      session_id: "20261130_4",
      started_at: "2026-11-30T16:02:25.000Z",
      source: { format: "goose", agent: "goose", model: "m-1", folder: "/srv/gates", provider: "openai" },
    },
  ]);
  const steps = imported.sessions[0]?.steps ?? [];
  expect(usersOf(imported)).toEqual(["Do it", "Use ls instead of rm.", "/compact", "Later.", "Call off", "And then"]);
  expect(answersOf(imported)).toEqual(["I do it 11.", "Done 12.", "I do it 13.", "Done 14.", "I do it 16.", "Done 17."]);
  expect(steps.filter(({ context_only: why }) => why === "refused").map(({ text }) => text)).toEqual(["I do it 11."]);
  expect(steps.flatMap(({ tool_calls: calls = [] }) => calls)).toMatchObject(
    ["rm a.txt", "ls", "cat a.txt"].map((command) => ({ name: "shell", arguments: expect.stringContaining(`"${command}"`) })),
  );
  expect(steps.flatMap(({ observations = [] }) => observations.map(({ content }) => content.slice(0, 21)))).toEqual([
    "The user has declined",
    "a.txt",
    "hello",
  ]);
  expect(droppedOf(imported)).toEqual({ "harness text": 8 });
});

const message = (role: string, ...content: readonly object[]): object => ({ role, created: 1_767_607_201, content });
const call = (id: string, toolCall: object): object => ({ type: "toolRequest", id, toolCall });
const result = (id: string, toolResult: object): object => ({ type: "toolResponse", id, toolResult });
const text = (said: string, more: object = {}): object => ({ type: "text", text: said, ...more });

it("reads the files of earlier versions: facts in a line, results as lists, and what a tool told the person alone left out", async () => {
  const ran = call("c1", { status: "success", value: { name: "developer__shell", arguments: { command: "make" } } });
  const imported = await importText(
    jsonLines(
      { working_dir: "/srv/gates", description: "Gates", message_count: 5 },
      message("user", text("Build it.")),
      message("assistant", { type: "thinking", thinking: "Which way?", signature: "" }, text("I build."), ran),
      message(
        "user",
        result("c1", {
          status: "success",
          value: [
            text("ok", { annotations: { audience: ["user", "assistant"] } }),
            text("A bar", { annotations: { audience: ["user"] } }),
          ],
        }),
      ),
      message("assistant", call("c2", { status: "success", value: { name: "developer__shell", arguments: { command: "x" } } })),
      message("user", result("c2", { status: "error", error: "no such tool" })),
      message("assistant", text("Built.")),
    ),
  );
  expect(imported.sessions[0]).toMatchObject({
    source: { format: "goose", folder: "/srv/gates" },
    steps: [
      { text: "Build it.", timestamp: "2026-01-05T10:00:01.000Z" },
      { text: "I build.", reasoning: "Which way?", tool_calls: [{ id: "c1" }], observations: [{ content: "ok" }] },
      { tool_calls: [{ id: "c2" }], observations: [{ content: "no such tool", is_error: true }] },
      { text: "Built." },
    ],
  });
});

it("counts a line of it that is no message", async () => {
  const imported = await importText(
    jsonLines(
      { working_dir: "/w", message_count: 2 },
      message("user", text("Hi")),
      { role: 1 },
      message("assistant", text("Hi.")),
    ),
  );
  expect([imported.format, imported.bad_lines]).toEqual(["goose", 1]);
});
