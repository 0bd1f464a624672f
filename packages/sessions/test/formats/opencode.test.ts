import { groupFiles, importSessions } from "@imprint/sessions";
import { describe, expect, it } from "vitest";
import { CLI_SAMPLES, OPENCODE_FILES } from "../support/cli-samples.js";
import { countsOf, droppedOf, importText, usersOf } from "../support/import-text.js";

const time = { created: 1767607200000 };
const message = (id: string, info: object, ...parts: readonly object[]): object => ({
  info: { id, sessionID: "ses_1", time, ...info },
  parts: parts.map((part, index) => ({ id: `${id}-${index}`, sessionID: "ses_1", messageID: id, ...part })),
});
const user = (id: string, ...parts: readonly object[]): object => message(id, { role: "user" }, ...parts);
const answer = (id: string, ...parts: readonly object[]): object =>
  message(id, { role: "assistant", modelID: "m-1" }, { type: "step-start" }, ...parts);
const text = (value: string, rest: object = {}): object => ({ type: "text", text: value, ...rest });
const tool = (id: string, state: object): object => ({ type: "tool", tool: "bash", callID: id, state: { input: {}, ...state } });
const read = (info: object, ...messages: readonly object[]): ReturnType<typeof importText> =>
  importText(JSON.stringify({ info: { id: "ses_1", version: "1.2.0", time, ...info }, messages }));

describe("opencode", () => {
  it("makes a step of each answer in a message, with its reasoning and results", async () => {
    const imported = await read(
      {},
      user("m1", text("Go")),
      answer(
        "m2",
        { type: "reasoning", text: "Look." },
        tool("c1", { status: "completed", output: "a", attachments: [{ mime: "image/png", url: "data:" }] }),
        tool("c2", { status: "error", error: "no" }),
        tool("c3", { status: "running" }),
        { type: "step-finish" },
        { type: "step-start" },
        text("Done."),
      ),
    );
    expect(countsOf(imported)).toEqual([1, 2, 3, 2]);
    expect(imported.sessions[0]?.steps[1]).toMatchObject({
      reasoning: "Look.",
      observations: [
        { call_id: "c1", content: "a\n\n[image]" },
        { call_id: "c2", content: "no", is_error: true },
      ],
    });
    expect(imported.sessions[0]).toMatchObject({ session_id: "ses_1", source: { format_version: "1.2.0", model: "m-1" } });
  });

  it("keeps the files that a request names, and leaves out reminders and the tool's own requests", async () => {
    const synthetic = { synthetic: true };
    const imported = await read(
      {},
      user(
        "m1",
        text("See @a.ts"),
        text("Called the Read tool", synthetic),
        text("<system-reminder>\nPlan.\n</system-reminder>", synthetic),
        { type: "file", mime: "text/plain", url: "file:///a.ts" },
        { type: "file", mime: "image/png", url: "data:" },
      ),
      answer("m2", text("Seen.")),
      user("m3", text("Continue if you have next steps", synthetic)),
      answer("m4", text("None.")),
    );
    expect(usersOf(imported)).toEqual(["See @a.ts\n\nCalled the Read tool\n\n[image]"]);
    expect(droppedOf(imported)).toEqual({ "harness text": 2 });
  });

  it("leaves out summaries, and what a person went back behind", async () => {
    const imported = await read(
      { revert: { messageID: "m5" } },
      user("m1", text("One")),
      answer("m2", text("1")),
      user("m3", { type: "compaction", auto: true }),
      message("m4", { role: "assistant", summary: true }, text("So far: one.")),
      user("m5", text("Two")),
      answer("m6", text("2")),
    );
    expect(usersOf(imported)).toEqual(["One"]);
    expect(droppedOf(imported)).toEqual({ "compaction summary": 2, "abandoned branch": 2 });
  });

  it("does not supervise answers that were broken off, or tools that a person ran", async () => {
    const imported = await read(
      {},
      user("m1", text("Go")),
      message("m2", { role: "assistant", error: { name: "MessageAbortedError" } }, { type: "step-start" }, text("Half")),
      user("m3", text("The following tool was executed by the user", { synthetic: true })),
      message("m4", { role: "assistant" }, tool("c1", { status: "completed", output: "a" })),
    );
    expect(imported.sessions[0]?.steps.map((step) => step.context_only)).toEqual([undefined, "aborted", "synthetic"]);
  });

  it("makes no session of a part whose message is not there", async () => {
    const part = { id: "prt_1", sessionID: "ses_1", messageID: "msg_1", ...text("Half a word") };
    await expect(importText(JSON.stringify(part))).rejects.toThrow("holds no message");
  });

  it("reads a session from the files of the storage, in whatever order they come", async () => {
    const paths = OPENCODE_FILES.map(({ path }) => path);
    expect(groupFiles(paths)).toHaveLength(1);
    const files = OPENCODE_FILES.map(({ path, text: content }) => ({ name: path, bytes: new TextEncoder().encode(content) }));
    const whole = CLI_SAMPLES.find((sample) => sample.format === "opencode");
    const exported = await importText(whole?.text ?? "");
    for (const order of [files, files.toReversed()]) {
      const stored = await importSessions(order);
      expect(stored.format).toBe("opencode");
      expect(stored.sessions[0]?.steps).toEqual(exported.sessions[0]?.steps);
      expect(stored.file_id).toBe("ses_0001");
    }
  });

  it("reads what opencode 2 wrote, and counts the kinds of messages that say nothing", async () => {
    const second = (id: string, type: string, rest: object): object => ({ id, type, time, ...rest });
    const state = { status: "completed", input: { command: "ls" }, output: "", content: [{ type: "text", text: "a.ts" }] };
    const failed = { status: "error", input: {}, content: [], error: { type: "tool", message: "denied" } };
    const imported = await importText(
      JSON.stringify({
        info: { id: "ses_1", version: "2.0.12", projectID: "p", time },
        messages: [
          second("m0", "agent-switched", { agent: "build" }),
          second("m1", "user", { text: "List them", files: [{ mime: "image/png", uri: "data:" }] }),
          second("m2", "assistant", {
            model: { id: "m-1", providerID: "p" },
            content: [
              { type: "reasoning", text: "Hm." },
              { type: "text", text: "I look." },
              { type: "tool", id: "c1", name: "bash", state },
              { type: "tool", id: "c1", name: "edit", state: failed },
            ],
          }),
          second("m3", "synthetic", { text: "Go on." }),
          second("m4", "shell", { callID: "s1", command: "date", output: "Monday" }),
          second("m5", "compaction", { reason: "auto", summary: "Listed." }),
          second("m6", "assistant", { content: [{ type: "text", text: "Half" }], error: { type: "aborted" } }),
        ],
      }),
    );
    expect(imported.sessions[0]).toMatchObject({
      source: { format_version: "2.0.12", model: "m-1" },
      steps: [
        { text: "List them\n\n[image]" },
        {
          text: "I look.",
          reasoning: "Hm.",
          tool_calls: [{ id: "c1" }, { id: "c1-2" }],
          observations: [
            { call_id: "c1", content: "a.ts" },
            { call_id: "c1-2", content: "denied", is_error: true },
          ],
        },
        { tool_calls: [{ name: "bash" }], observations: [{ content: "Monday" }], context_only: "synthetic" },
        { text: "Half", context_only: "aborted" },
      ],
    });
    expect(droppedOf(imported)).toEqual({ "line not read: agent-switched": 1, "harness text": 2, "compaction summary": 1 });
  });
});
