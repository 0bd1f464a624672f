import { describe, expect, it } from "vitest";
import { answersOf, droppedOf, importText, usersOf } from "../support/import-text.js";

const read = (...lines: string[]): ReturnType<typeof importText> =>
  importText(`${lines.join("\n")}\n`, {}, ".aider.chat.history.md");
const START = "# aider chat started at 2026-01-05 10:00:00";

describe("aider", () => {
  it("makes a session of each chat, with its start, version and model", async () => {
    const imported = await read(
      "late answer",
      START,
      "",
      "> Aider v0.80.1  ",
      "> Main model: m-1 with diff edit format  ",
      "",
      "#### One  ",
      "",
      "1",
      START.replace("10:", "11:"),
      "",
      "#### Two  ",
      "",
      "2",
    );
    expect(answersOf(imported)).toEqual(["late answer", "1", "2"]);
    expect(imported.sessions[1]).toMatchObject({
      started_at: "2026-01-05T10:00:00.000Z",
      source: { format_version: "0.80.1", model: "m-1" },
    });
  });

  it("tells requests from commands, and takes unknown commands for words", async () => {
    const imported = await read(
      START,
      "",
      "#### /add a.py  ",
      "",
      "#### /ex  ",
      "",
      "#### !ls  ",
      "",
      "#### /ask why?  ",
      "",
      "Because.",
      "",
      "#### /srv is full  ",
      "",
      "Then clean it.",
    );
    expect(usersOf(imported)).toEqual(["/ask why?", "/srv is full"]);
    expect(droppedOf(imported)).toEqual({ "local command": 3 });
  });

  it("keeps answers with quotations, blank lines and headings as they are", async () => {
    const answer =
      "Intro:\n\n> quoted words\n\n#### A heading\n\n##### Another\n\n```py\n<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE\n```";
    const imported = await read(START, "", "#### Go  ", "", ...answer.split("\n"), "", "> Applied edit to a.py  ", "");
    expect(answersOf(imported)).toEqual([answer]);
  });

  it("learns nothing of an edit that the person took back with /undo, and what a style commit took back", async () => {
    const edit = (file: string, ...commits: string[]): string[] => [
      `I edit ${file}.`,
      "",
      "> Tokens: 1k sent, 2 received.  ",
      `> Applied edit to ${file}  `,
      ...commits.map((commit) => `> Commit ${commit} feat: ${file}  `),
      "",
    ];
    const undo = (commit: string): string[] => ["#### /undo  ", `> Removed: ${commit} feat: it  `, "> HEAD is: 0000000 x  ", ""];
    const imported = await read(
      ...[START, "", "#### One  ", "", ...edit("a.py", "aaaaaa1"), "#### Two  ", ""],
      ...["> Committing b.py before applying edits.  ", "> Commit bbbbbb0 wip  ", ""],
      ...[...edit("b.py", "bbbbbb1", "bbbbbb2"), ...undo("bbbbbb2"), ...undo("bbbbbb0"), "#### Three  ", ""],
      ...[...edit("c.py", "ccccccc1"), ...undo("ccccccc1")],
    );
    const answers = imported.sessions[0]?.steps.filter((step) => step.source === "agent");
    expect(answers?.map((step) => step.context_only ?? step.text)).toEqual(["I edit a.py.", "I edit b.py.", "refused"]);
  });

  it("leaves out console output, but what the model answers to where nobody asked", async () => {
    const imported = await read(
      START,
      "",
      "#### Go  ",
      "",
      "Ok.",
      "",
      "#### /test pytest  ",
      "",
      "> ==== test session ====",
      "collected 2 items",
      "",
      "x  ",
      "FAILED  ",
      "",
      "I see it.",
      "",
      "> Tokens: 1k sent, 2 received.  ",
      ">  ",
      "> # Fix any errors below, if possible.  ",
      "> a.py:1: F401  ",
      "> Attempt to fix lint errors? y  ",
      "",
      "Gone.",
      "",
      "> Tokens: 1k sent, 2 received.  ",
      "",
      "#### Thanks  ",
    );
    expect(answersOf(imported)).toEqual(["Ok.", "I see it.", "Gone."]);
    expect(imported.sessions[0]?.steps.flatMap(({ observations = [] }) => observations.map(({ content }) => content))).toEqual([
      "$ pytest\n==== test session ====\ncollected 2 items\n\nx\nFAILED",
      "# Fix any errors below, if possible.\na.py:1: F401\nAttempt to fix lint errors? y",
    ]);
    expect(droppedOf(imported)).toEqual({ "local command": 1, "console output": 1 });
  });
});
