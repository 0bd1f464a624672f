import { describe, expect, it } from "vitest";
import { answersOf, countsOf, droppedOf, importText, usersOf } from "../support/import-text.js";

const DETAILS = "<environment_details>\n# Visual Studio Code Open Tabs\na.ts\n</environment_details>";
const text = (value: string): object => ({ type: "text", text: value });
const user = (...values: readonly (string | object)[]): object => ({
  role: "user",
  content: [...values.map((value) => (typeof value === "string" ? text(value) : value)), text(DETAILS)],
});
const answer = (...content: readonly object[]): object => ({ role: "assistant", content });
const call = (id: string, name: string): object => ({ type: "tool_use", id, name, input: { path: id } });
const read = (...messages: readonly object[]): ReturnType<typeof importText> => importText(JSON.stringify(messages));
const observations = async (imported: ReturnType<typeof importText>): Promise<unknown[]> =>
  (await imported).sessions.flatMap(({ steps }) => steps.flatMap((step) => step.observations ?? []));

describe("cline", () => {
  it("gives results in plain text to the calls of their tools, and marks those that were not run", async () => {
    const imported = read(
      user("<task>\nFix it\n</task>", "# task_progress RECOMMENDED\n\nMake a list."),
      answer(call("c1", "read_file"), call("c2", "read_file"), call("c3", "list_files")),
      user(
        "[read_file for 'a.ts'] Result:\nconst a = 1;",
        "Tool [read_file] was not executed because a tool has already been used in this message.",
        "[list_files for 'src'] Result:",
        "a.ts",
      ),
    );
    expect(countsOf(await imported)).toEqual([1, 1, 3, 3]);
    expect(usersOf(await imported)).toEqual(["Fix it"]);
    expect(await observations(imported)).toEqual([
      { call_id: "c1", content: "[read_file for 'a.ts'] Result:\nconst a = 1;" },
      { call_id: "c2", content: expect.stringContaining("not executed"), is_error: true },
      { call_id: "c3", content: "[list_files for 'src'] Result:\na.ts" },
    ]);
  });

  it("keeps actions in plain text, with what came back of them", async () => {
    const imported = read(
      user("<task>\nFix it\n</task>"),
      answer(text("<read_file>\n<path>a.ts</path>\n</read_file>")),
      user("[read_file for 'a.ts'] Result:", "The tool execution failed with the following error:\n<error>\nno\n</error>"),
      answer(text("Sorry.")),
      user("[ERROR] You did not use a tool in your previous response! Please retry with a tool use."),
      answer(text("<attempt_completion>\n<result>Done</result>\n</attempt_completion>")),
    );
    expect(countsOf(await imported)).toEqual([1, 3, 0, 0]);
    expect((await imported).sessions[0]?.outcome_signal).toBe("attempt_completion");
    expect((await observations(imported)).map((one) => (one as { call_id: unknown }).call_id)).toEqual([null, null]);
  });

  it.each([
    ["an answer to a question", "[ask_followup_question for 'Which?\nOne?'] Result:\n<answer>\nThe second\n</answer>"],
    [
      "feedback on a refusal",
      "The user denied this operation. The user provided the following feedback:\n<feedback>\nThe second\n</feedback>",
    ],
    [
      "feedback on what was allowed",
      '{"status":"approved","message":"The user approved this operation","feedback":"The second"}\n\n[ls] Result:\na',
    ],
    [
      "words at a resumption",
      "[TASK RESUMPTION] This task was interrupted.\n\nNew instructions:\n<user_message>\nThe second\n</user_message>",
    ],
    ["words behind a resumption", "New instructions for task continuation:\n<user_message>\nThe second\n</user_message>"],
    ["input of newer versions", '<user_input mode="act">The second</user_input>'],
  ])("takes %s for the person's", async (_, said) => {
    expect(usersOf(await read(user("<task>\nFirst\n</task>"), answer(text("Hm")), user(said)))).toEqual(["First", "The second"]);
  });

  it("does not take tags in a file for a person's words, and keeps the files that a request names", async () => {
    const imported = await read(
      user("<task>\nSee 'a.md'\n</task>\n\n<file_content path=\"a.md\">\nhello\n</file_content>", { type: "image", source: {} }),
      answer(call("c1", "read_file")),
      user("[read_file for 'page.html'] Result:\n<ul>\n<li>one</li>\n<feedback>\nnot a person's\n</feedback>"),
    );
    expect(usersOf(imported)).toEqual(["See 'a.md'\n\n<file_content path=\"a.md\">\nhello\n</file_content>\n\n[image]"]);
  });

  it("leaves out what stands for an answer that never came, and summaries", async () => {
    const imported = await read(
      user("<task>\nGo\n</task>"),
      answer(text("Failure: I did not provide a response.")),
      user("This session is being continued from a previous conversation that ran out of context."),
      answer(text("On it.")),
    );
    expect(answersOf(imported)).toEqual(["On it."]);
    expect(droppedOf(imported)).toEqual({ "harness text": 2, "synthetic message": 1, "compaction summary": 1 });
  });

  it("leaves other lists of messages to their own format", async () => {
    const chat = [
      { role: "user", content: "<task>\nGo\n</task>" },
      { role: "assistant", content: "ok" },
    ];
    expect((await importText(JSON.stringify(chat))).format).toBe("chat-jsonl");
  });

  it("reads a run of the command line: its prompt, its version, results as JSON, and failures", async () => {
    const failed = '{"query":"edit:a.ts","result":"no such text","success":false}';
    const listed = [{ query: "a.ts", result: "1 | const a = 1;", success: true }];
    const result = (id: string, content: unknown): object => ({ type: "tool_result", tool_use_id: id, name: "tool", content });
    const imported = await importText(
      JSON.stringify({
        version: 1,
        agent: "lead",
        sessionId: "1795508505198_p4r82",
        origin: { source: "cli", version: "3.0.65" },
        messages: [
          { role: "user", content: [text('<user_input mode="act">Fix it</user_input>')] },
          { ...answer(call("c1", "read_files")), modelInfo: { id: "m-1", provider: "p" } },
          { role: "user", content: [result("c1", listed)] },
          answer(call("c2", "editor")),
          { role: "user", content: [result("c2", failed)] },
          answer(text("It is not there.")),
        ],
        system_prompt: "You are Cline.",
      }),
    );
    expect(usersOf(imported)).toEqual(["Fix it"]);
    expect(countsOf(imported)).toEqual([1, 3, 2, 2]);
    expect(imported.sessions[0]).toMatchObject({
      session_id: "1795508505198_p4r82",
      source: { format: "cline", format_version: "3.0.65", model: "m-1" },
      steps: [{ source: "system", text: "You are Cline." }, {}, {}, {}, {}],
    });
    expect(imported.sessions[0]?.steps.flatMap(({ observations }) => observations ?? [])).toEqual([
      { call_id: "c1", content: JSON.stringify(listed) },
      { call_id: "c2", content: failed, is_error: true },
    ]);
  });
});
