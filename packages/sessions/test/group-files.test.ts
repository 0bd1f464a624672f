import { groupFiles, isForeignPath, isSessionPath } from "@imprint/sessions";
import { describe, expect, it } from "vitest";

describe("groupFiles", () => {
  it("takes an OpenHands folder as one session and every other file as its own", () => {
    const groups = groupFiles([
      "a/log.jsonl",
      "a/log/subagents/agent-1.jsonl",
      "b/conv/base_state.json",
      "b/conv/events/event-00000-x.json",
      "b/conv/events/event-00001-y.json",
      "c/sid/events/0.json",
      "c/sid/events/1.json",
      "base_state.json",
    ]);
    expect(groups).toEqual([
      { name: "a/log.jsonl", paths: ["a/log.jsonl"] },
      { name: "a/log/subagents/agent-1.jsonl", paths: ["a/log/subagents/agent-1.jsonl"] },
      {
        name: "b/conv",
        paths: ["b/conv/base_state.json", "b/conv/events/event-00000-x.json", "b/conv/events/event-00001-y.json"],
      },
      { name: "c/sid", paths: ["c/sid/events/0.json", "c/sid/events/1.json"] },
      { name: "base_state.json", paths: ["base_state.json"] },
    ]);
  });

  it("gathers a session of opencode's storage from its three folders", () => {
    const one = ["s/storage/session/p/ses_1.json", "s/storage/message/ses_1/msg_1.json", "s/storage/part/msg_1/prt_1.json"];
    const other = ["s/storage/message/ses_2/msg_2.json", "s/storage/part/msg_2/prt_2.json"];
    const [first = "", ...rest] = one;
    expect(groupFiles([first, ...other, ...rest, "s/storage/part/msg_3/prt_3.json"])).toEqual([
      { name: "s/storage/message/ses_1", paths: one },
      { name: "s/storage/message/ses_2", paths: other },
      { name: "s/storage/part/msg_3/prt_3.json", paths: ["s/storage/part/msg_3/prt_3.json"] },
    ]);
  });

  it("gathers the pieces of a recording that was cut", () => {
    const pieces = ["a/0/full.jsonl", "a/0/full.jsonl.001", "a/0/full.jsonl.002"];
    const [first = "", ...rest] = pieces;
    expect(groupFiles([first, "a/1/full.jsonl", ...rest, "b/raw_transcript.001", "b/raw_transcript"])).toEqual([
      { name: "a/0/full.jsonl", paths: pieces },
      { name: "a/1/full.jsonl", paths: ["a/1/full.jsonl"] },
      { name: "b/raw_transcript", paths: ["b/raw_transcript.001", "b/raw_transcript"] },
    ]);
  });

  it("names the walked folder itself by a dot", () => {
    expect(groupFiles(["base_state.json", "events/event-00000-x.json"])).toEqual([
      { name: ".", paths: ["base_state.json", "events/event-00000-x.json"] },
    ]);
  });
});

describe("isSessionPath", () => {
  it.each([
    "a.jsonl",
    "a/b.json",
    "x.traj",
    "x.traj.json",
    "rollout.jsonl.zst",
    "log.jsonl.gz",
    ".aider.chat.history.md",
    "d\\chat-history-1.md",
    "train-00000-of-00001.parquet",
    "a/full.jsonl.001",
    "raw_transcript",
    "a/raw_transcript.001",
  ])("walks into %s", (path) => expect(isSessionPath(path)).toBe(true));
  it.each([
    "README.md",
    "a.txt",
    "node_modules/x/package.json",
    "s/tool-results/1.json",
    ".git/a.json",
    "x.zst",
    "x.zip.001",
    "transcript",
    "model.pb",
    "app.db",
    "2026-09-14-notes.md",
  ])("passes %s over", (path) => expect(isSessionPath(path)).toBe(false));
});

describe("isForeignPath", () => {
  it.each([
    ".specstory/history/gates.md",
    "2026-09-14_08-00Z-start-the-table.md",
    "kiro.kiroagent/ab/cd.chat",
    "goose/sessions/sessions.db",
    "kiro-cli/data.sqlite3",
    ".gemini/antigravity/conversations/5b0e8a52.pb",
  ])("names the tool of %s", (path) => expect(isForeignPath(path)).toBe(true));
  it.each(["model.pb", "app.db", "2026-09-14-notes.md", "history/gates.md", "a.jsonl"])("does not know %s", (path) =>
    expect(isForeignPath(path)).toBe(false),
  );
});
