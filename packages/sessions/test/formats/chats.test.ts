import { describe, expect, it } from "vitest";
import { answersOf, countsOf, droppedOf, importText, jsonLines, usersOf } from "../support/import-text.js";

describe("chat-jsonl", () => {
  it("does not supervise answers of weight zero, in any trainer's spelling", async () => {
    const marks = [{ weight: 0 }, { loss: false }, { loss_scale: 0 }, { train: false }, { weight: 1 }];
    const messages = marks.flatMap((mark) => [
      { role: "user", content: "q" },
      { role: "assistant", content: JSON.stringify(mark), ...mark },
    ]);
    const { sessions } = await importText(jsonLines({ messages }));
    expect(sessions[0]?.steps.filter((step) => step.source === "agent").map((step) => step.context_only)).toEqual([
      ...Array.from({ length: 4 }, () => "weight_zero"),
      undefined,
    ]);
  });

  it("reads tools as a list and as JSON text, and arguments as text and as an object", async () => {
    const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
    const messages = [
      { role: "user", content: "q" },
      { role: "assistant", content: null, tool_calls: [{ id: "a", function: { name: "f", arguments: { x: 1 } } }] },
      { role: "tool", content: { ok: true } },
    ];
    for (const given of [tools, JSON.stringify(tools)]) {
      const [session] = (await importText(jsonLines({ messages, tools: given }))).sessions;
      expect(session?.tools).toEqual([{ name: "f", parameters: { type: "object" } }]);
      expect(session?.steps[1]?.tool_calls).toEqual([{ id: "a", name: "f", arguments: '{"x":1}' }]);
      expect(session?.steps[1]?.observations).toEqual([{ call_id: "a", content: '{"ok":true}' }]);
    }
  });

  it("reads ms-swift's call and response roles: parallel calls are one answer", async () => {
    const call = (name: string): unknown => ({ role: "tool_call", content: JSON.stringify({ name, arguments: { n: name } }) });
    const messages = [
      { role: "user", content: "q" },
      call("one"),
      call("two"),
      { role: "tool_response", content: "1" },
      { role: "tool_response", content: "2" },
      { role: "assistant", content: "ok" },
    ];
    const imported = await importText(jsonLines({ messages }));
    expect(countsOf(imported)).toEqual([1, 2, 2, 2]);
    expect(imported.sessions[0]?.steps[1]?.observations?.map((one) => one.content)).toEqual(["1", "2"]);
  });

  it("puts results to the right turn where ids start anew in each", async () => {
    const turn = (value: string): unknown[] => [
      { role: "assistant", content: "", tool_calls: [{ id: "call_0", function: { name: "f", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "call_0", content: value },
    ];
    const imported = await importText(jsonLines({ messages: [{ role: "user", content: "q" }, ...turn("1"), ...turn("2")] }));
    expect(imported.sessions[0]?.steps.slice(1).map((step) => step.observations?.map((one) => one.content))).toEqual([
      ["1"],
      ["2"],
    ]);
  });

  it("reads messages that are lines of their own as one conversation: Kimi CLI's, with its marks counted", async () => {
    const call = { type: "function", id: "tool_1", function: { name: "Shell", arguments: '{"command":"make"}' } };
    const imported = await importText(
      jsonLines(
        { role: "_system_prompt", content: "You are an agent." },
        { role: "_checkpoint", id: 0 },
        { role: "user", content: [{ type: "text", text: "Build it." }] },
        { role: "_usage", token_count: 900 },
        {
          role: "assistant",
          content: [
            { type: "think", think: "With make." },
            { type: "text", text: "I build." },
          ],
          tool_calls: [call],
        },
        { role: "tool", content: [{ type: "text", text: "ok" }], tool_call_id: "tool_1" },
        { role: "assistant", content: "Built." },
      ),
    );
    expect(imported.format).toBe("chat-jsonl");
    expect(imported.sessions).toMatchObject([
      {
        steps: [
          { source: "system", text: "You are an agent." },
          { source: "user", text: "Build it." },
          { text: "I build.", reasoning: "With make.", tool_calls: [{ name: "Shell" }], observations: [{ content: "ok" }] },
          { text: "Built." },
        ],
      },
    ]);
    expect(droppedOf(imported)).toEqual({ "line not read: of no known kind": 2 });
  });

  it("reads gptme's lines, when they were said too", async () => {
    const line = (role: string, content: string, second: number): object => ({
      ...{ role, content, timestamp: `2026-01-05T10:00:0${second}.000000` },
    });
    const { sessions, bad_lines } = await importText(
      jsonLines(line("system", "You are gptme.", 0), line("user", "Hi", 1), line("assistant", "Hello.", 2), { note: 1 }),
    );
    expect(sessions).toMatchObject([{ started_at: "2026-01-05T10:00:00.000Z", steps: [{}, { text: "Hi" }, { text: "Hello." }] }]);
    expect(bad_lines).toBe(1);
  });

  it("takes lines for a conversation once one answers a request, and not before", async () => {
    const asked = { role: "user", content: "Hi" };
    for (const lines of [
      [asked, asked],
      [{ role: "assistant", content: "Hello." }, asked],
      [{ role: "owner" }, asked],
    ])
      await expect(importText(jsonLines(...lines))).rejects.toThrow("is no recorded session of a known format");
  });

  it("reads prompt and completion, and query, response and history", async () => {
    const imported = await importText(
      jsonLines(
        { prompt: "p", completion: "c" },
        { prompt: [{ role: "user", content: "p2" }], completion: [{ role: "assistant", content: "c2" }] },
      ),
    );
    expect(usersOf(imported)).toEqual(["p", "p2"]);
    const swift = await importText(jsonLines({ system: "s", query: "q2", response: "r2", history: [["q1", "r1"]] }));
    expect(swift.sessions[0]?.steps.map((step) => step.text)).toEqual(["s", "q1", "r1", "q2", "r2"]);
  });

  it("keeps refusals and reasoning, and counts records without usable messages", async () => {
    const messages = [
      { role: "user", content: "q" },
      { role: "assistant", content: null, refusal: "No.", reasoning_content: "Hm" },
    ];
    const imported = await importText(jsonLines({ messages }, { messages: [{ role: "alien", content: "x" }] }, { messages: [] }));
    expect(imported.sessions[0]?.steps[1]).toMatchObject({ text: "No.", reasoning: "Hm" });
    expect(imported.bad_lines).toBe(2);
  });
});

describe("sharegpt", () => {
  it("knows the speakers of different sets, and a system text beside the turns", async () => {
    const imported = await importText(
      jsonLines(
        {
          system: "s",
          conversations: [
            { from: "human", value: "a" },
            { from: "gpt", value: "b" },
          ],
        },
        {
          conversation: [
            { human: "c", assistant: "d" },
            { human: "e", assistant: "f" },
          ],
        },
        {
          conversations: [
            { role: "user", content: "g" },
            { role: "assistant", content: "h" },
          ],
        },
      ),
    );
    expect(imported.sessions[0]?.steps[0]).toEqual({ source: "system", text: "s" });
    expect(answersOf(imported)).toEqual(["b", "d", "f", "h"]);
  });

  it("keeps a function call that is no JSON as the answer's text", async () => {
    const imported = await importText(
      jsonLines({
        conversations: [
          { from: "human", value: "a" },
          { from: "function_call", value: "f(1)" },
        ],
      }),
    );
    expect(answersOf(imported)).toEqual(["f(1)"]);
  });

  it("reads Glaive's records, which are one text", async () => {
    const chat = [
      "USER: How much is 2+2?",
      'ASSISTANT: <functioncall> {"name": "add", "arguments": \'{"a": 2, "b": 2}\'} <|endoftext|>',
      'FUNCTION RESPONSE: {"sum": 4}',
      "ASSISTANT: It is 4. <|endoftext|>",
    ].join("\n\n\n");
    const imported = await importText(jsonLines({ system: "SYSTEM: You add.", chat }));
    expect(countsOf(imported)).toEqual([1, 2, 1, 1]);
    expect(imported.sessions[0]?.steps[2]?.tool_calls?.[0]).toMatchObject({ name: "add", arguments: '{"a":2,"b":2}' });
    expect(answersOf(imported)).toEqual(["", "It is 4."]);
  });
});

describe("pi and sts", () => {
  const message = (value: object, more: object = {}): unknown => ({ type: "message", message: value, ...more });

  it("reads version 1, a plain list, and marks answers that were cut off", async () => {
    const imported = await importText(
      jsonLines(
        { type: "session", id: "p1", cwd: "/x" },
        message({ role: "user", content: "a" }),
        message({ role: "assistant", content: [{ type: "text", text: "b" }], stopReason: "aborted", provider: "x" }),
        message({ role: "assistant", content: [], stopReason: "error", provider: "x" }),
      ),
    );
    expect(imported).toMatchObject({ format: "pi", format_version: "1" });
    expect(imported.sessions[0]?.steps[1]?.context_only).toBe("aborted");
    expect(droppedOf(imported)).toEqual({ "empty answer": 1 });
  });

  it("follows pi's tree to its latest entry", async () => {
    const at = (id: string, parentId: string | null): object => ({ id, parentId });
    const says = (role: string, content: string): object => ({
      role,
      content,
      ...(role === "assistant" ? { stopReason: "stop" } : {}),
    });
    const imported = await importText(
      jsonLines(
        { type: "session", version: 3, id: "p3" },
        message(says("user", "one"), at("a", null)),
        message(says("assistant", "1"), at("b", "a")),
        message(says("user", "two"), at("c", "b")),
        message(says("assistant", "2"), at("d", "c")),
        { type: "compaction", summary: "…", ...at("e", "b") },
        message(says("user", "three"), at("f", "e")),
        message({ role: "bashExecution", command: "ls", output: "x\n" }, at("g", "f")),
        message({ role: "bashExecution", command: "pwd", output: "/", excludeFromContext: true }, at("i", "g")),
        message(says("assistant", "3"), at("h", "i")),
      ),
    );
    expect(imported.sessions[0]?.steps.map((step) => step.text)).toEqual(["one", "1", "three\n\n$ ls\nx", "3"]);
    expect(droppedOf(imported)).toEqual({ "compaction summary": 1, "local command": 1, "abandoned branch": 2 });
  });

  it("reads the prompt and the tools that pi writes down since its first version", async () => {
    const imported = await importText(
      jsonLines(
        { type: "session", version: 3, id: "p4" },
        message({ role: "user", content: "one" }),
        message({
          role: "system",
          content: "",
          sections: { opening: "You are pi.", cwd: "/w", old: null },
          toolsAdded: [{ name: "read" }],
        }),
        message({ role: "assistant", content: "1", stopReason: "stop" }),
        message({ role: "system", content: "", sections: { skills: "None." }, toolsAdded: [{ name: "write" }] }),
      ),
    );
    const [session] = imported.sessions;
    expect(session?.steps.map(({ source, text }) => `${source} ${text}`)).toEqual([
      "system You are pi.\n\n/w",
      "user one",
      "agent 1",
    ]);
    expect(session?.tools).toEqual([{ name: "read" }, { name: "write" }]);
    expect(droppedOf(imported)).toEqual({ "system prompt update": 1 });
  });

  it("reads what pi prints with --mode json", async () => {
    const user = { role: "user", content: "one" };
    const ends = (said: object): object => ({ type: "message_end", message: said });
    const imported = await importText(
      jsonLines(
        { type: "session", version: 3, id: "p5" },
        { type: "agent_start" },
        { type: "message_start", message: user },
        ends(user),
        ends({ role: "assistant", content: [{ type: "toolCall", id: "c", name: "bash", arguments: {} }], stopReason: "toolUse" }),
        ends({ role: "toolResult", toolCallId: "c", content: [{ type: "text", text: "x" }] }),
        { type: "turn_end", message: { role: "assistant", content: "" } },
      ),
    );
    expect([imported.format, imported.file_id, countsOf(imported)]).toEqual(["pi", "p5", [1, 1, 1, 1]]);
  });

  it("takes a file with a harness and no message of pi's shape for sts", async () => {
    const imported = await importText(
      jsonLines(
        { type: "session", harness: "h", id: "s1" },
        message({ role: "user", content: "a" }),
        message({ role: "assistant", content: "b", model: "m" }),
      ),
    );
    expect(imported).toMatchObject({ format: "sts", file_id: "s1" });
    expect(imported.sessions[0]?.source).toMatchObject({ agent: "h", model: "m" });
  });
});
