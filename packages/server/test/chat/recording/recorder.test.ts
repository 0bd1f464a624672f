import type { ChatMessage, ChatTool } from "@imprint/contracts";
import type { GatewayRecording } from "@imprint/sessions";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { AnswerEvent } from "../../../src/chat/answer.js";
import { by } from "../../../src/chat/conversation.js";
import { createRecorder } from "../../../src/chat/recording/recorder.js";
import { quietLog } from "../../common/quiet-log.js";

const END = { prompt_tokens: 1, completion_tokens: 1, stop_text: null } as const;

function* told(answer: ChatMessage, reason: "stop" | "length" = "stop"): Generator<AnswerEvent, void> {
  yield { type: "begin", prompt_tokens: 1 };
  for (const character of answer.content) yield { type: "text", text: character };
  for (const call of answer.tool_calls) yield { type: "call", ...call };
  yield { type: "end", end: { ...END, reason } };
}

const setUp = (always = true) => {
  const stored = new Map<string, GatewayRecording[]>();
  const recorder = createRecorder({
    sessions: {
      record: async (recording) => {
        stored.set(recording.session_id, [...(stored.get(recording.session_id) ?? []), recording]);
      },
    },
    always,
    log: quietLog(),
    now: () => new Date(0),
  });
  const ask = async (
    messages: ChatMessage[],
    answer: ChatMessage,
    { tools = [], headers = {}, reason }: { tools?: ChatTool[]; headers?: Record<string, string>; reason?: "length" } = {},
  ): Promise<void> => {
    const add = recorder.record({ model: "m-1", conversation: { messages, tools }, headers });
    for (const event of told(answer, reason)) add?.(event);
    await recorder.close();
  };
  return { recorder, stored, ask, newest: () => [...stored.values()].flatMap((all) => all.at(-1) ?? []) };
};

const words = fc.stringMatching(/^[a-z .\n]{0,12}$/);
const args = fc.constantFrom('{"a":1}', '{"a": 1, "b": [ "x" ]}', "{}", "free text");

interface Turn {
  readonly text: string;
  readonly calls: readonly string[];
  readonly results: readonly string[];
  readonly request: string;
}
const turn: fc.Arbitrary<Turn> = fc.record({
  text: words,
  calls: fc.array(args, { maxLength: 3 }),
  results: fc.array(words, { minLength: 3, maxLength: 3 }),
  request: words,
});

/** How a client gives an answer back: with ids and spaces of its own, its arguments written anew. */
const givenBack = ({ content, tool_calls }: ChatMessage, salt: string): ChatMessage =>
  by.assistant(
    ` ${content.trim().replaceAll(" ", "  ")}\n`,
    tool_calls.map((call, at) => ({ ...call, id: `${salt}_${at}`, arguments: rewritten(call.arguments) })),
  );

const rewritten = (text: string): string => (text.startsWith("{") ? JSON.stringify(JSON.parse(text), null, 1) : text);

/** The requests of a conversation, each with its answer. */
const requestsOf = (opening: readonly ChatMessage[], turns: readonly Turn[]) => {
  let messages = [...opening];
  return turns.map(({ text, calls, results, request }, number) => {
    const answer = by.assistant(
      text,
      calls.map((one, at) => ({ id: `call_${number}_${at}`, name: "bash", arguments: one })),
    );
    const asked = { messages: [...messages], answer };
    const echo = givenBack(answer, `echo_${number}`);
    const next = echo.tool_calls.map(({ id }, at) => by.result(id, results[at] ?? ""));
    messages = [...messages, echo, ...(next.length > 0 ? next : [by.user(request)])];
    return asked;
  });
};

test("conversations that grow are a session each, whose messages are what was sent last and the answer", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(turn, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 }), async (talks) => {
      const { ask, stored, newest } = setUp();
      const all = talks.map((turns, index) => requestsOf([by.system("Be brief."), by.user(`task ${index}`)], turns));
      // One after the other, a turn each.
      for (let at = 0; at < 6; at += 1)
        for (const talk of all) {
          const asked = talk[at];
          if (asked) await ask(asked.messages, asked.answer);
        }
      expect(newest().map(({ messages }) => messages)).toEqual(
        all.map((talk) => {
          const last = talk.at(-1);
          return last && [...last.messages, last.answer];
        }),
      );
      expect([...stored.values()].map((states) => states.length)).toEqual(talks.map(({ length }) => length));
    }),
  );
});

const HI = [by.user("Hi")];

test("a branch, a rewritten turn, another tool and a title are sessions of their own", async () => {
  const { ask, newest } = setUp();
  await ask(HI, by.assistant("Hello."));
  const grown = [...HI, by.assistant("Hello."), by.user("Who?")];
  await ask(grown, by.assistant("Me."));
  await ask(HI, by.assistant("Good day."));
  await ask([...HI, by.assistant("Hello."), by.user("Where?")], by.assistant("Here."));
  await ask([by.user("Hi!"), ...grown.slice(1), by.assistant("Me."), by.user("Why?")], by.assistant("So."));
  await ask([...grown, by.assistant("Me."), by.user("When?")], by.assistant("Now."), {
    tools: [{ name: "b", description: null, parameters: {} }],
  });
  await ask([by.system("Find a title."), ...HI], by.assistant("Greeting"));
  expect(newest().map(({ messages }) => messages.at(-1)?.content)).toEqual([
    "Me.",
    "Good day.",
    "Here.",
    "So.",
    "Now.",
    "Greeting",
  ]);
});

test("the same request with the same answer is the same session", async () => {
  const { ask, stored } = setUp();
  await ask(HI, by.assistant("Hello."));
  await ask(HI, by.assistant("Hello."));
  expect(stored.size).toBe(1);
});

test("an answer that was broken off is not recorded, and the session goes on when it is asked for again", async () => {
  const { ask, recorder, stored, newest } = setUp();
  await ask(HI, by.assistant("Hello."));
  const messages = [...HI, by.assistant("Hello."), by.user("Who?")];
  const add = recorder.record({ model: "m-1", conversation: { messages, tools: [] }, headers: {} });
  for (const event of told(by.assistant("Me."))) if (event.type !== "end") add?.(event);
  await recorder.close();
  expect(newest()[0]?.messages).toHaveLength(2);
  await ask(messages, by.assistant("Me."));
  expect([stored.size, newest()[0]?.messages.length]).toEqual([1, 4]);
});

test("a call that comes back with its arguments in another order and with its tool's defaults is the same call", async () => {
  const { ask, newest } = setUp();
  const parameters = { type: "object", properties: { all: { type: "boolean", default: false }, path: { type: "string" } } };
  const tools = [{ name: "edit", description: null, parameters }];
  const called = (args: string) => by.assistant("", [{ id: "c1", name: "edit", arguments: args }]);
  const goingOn = (args: string, answer: string) =>
    ask([...HI, called(args), by.result("c1", "ok")], by.assistant(answer), { tools });
  await ask(HI, called('{"path": "a"}'), { tools });
  await goingOn('{"all": false, "path": "a"}', "Done.");
  expect(newest()).toHaveLength(1);
  await goingOn('{"all": true, "path": "a"}', "All done.");
  expect(newest()).toHaveLength(2);
});

test("answers are told from what clients put into the model's mouth, while the conversation grows", async () => {
  const { ask, newest } = setUp();
  const examples = [by.user("Say hi."), by.assistant("Hi."), ...HI];
  await ask(examples, by.assistant("Hello."));
  await ask([...examples, by.assistant("Hello."), by.user("Who?")], by.assistant("Me."));
  await ask([...examples, by.assistant("Hello."), by.user("Who?")], by.assistant("Me."));
  expect(newest().map(({ answered }) => answered)).toEqual([[3, 5]]);
});

test("answers that the room for them cut off stay marked while the conversation grows", async () => {
  const { ask, newest } = setUp();
  await ask(HI, by.assistant("Hel"), { reason: "length" });
  await ask([...HI, by.assistant("Hel"), by.user("Go on")], by.assistant("lo."));
  expect(newest()[0]?.cut).toEqual([1]);
});

test("two that go on with one conversation at the same time are two sessions", async () => {
  const { ask, recorder, newest } = setUp();
  await ask(HI, by.assistant("Hello."));
  const follow = async (question: string): Promise<void> => {
    const conversation = { messages: [...HI, by.assistant("Hello."), by.user(question)], tools: [] };
    const add = recorder.record({ model: "m-1", conversation, headers: {} });
    for (const event of told(by.assistant(`${question} So.`))) add?.(event);
  };
  await Promise.all([follow("Who?"), follow("Why?")]);
  await recorder.close();
  expect(new Set(newest().map(({ session_id }) => session_id)).size).toBe(2);
  expect(newest().map(({ messages }) => messages.at(-1)?.content)).toEqual(["Who? So.", "Why? So."]);
});

test.each([
  [false, {}, 0],
  [false, { "x-imprint-record": "1" }, 1],
  [true, {}, 1],
  [true, { "x-imprint-record": "0" }, 0],
])("records by the setting (%s), unless the request says otherwise (%j)", async (always, headers, count) => {
  const { ask, stored } = setUp(always);
  await ask(HI, by.assistant("Hello."), { headers });
  expect(stored.size).toBe(count);
});

test.each([
  [{ "user-agent": "opencode/1.18.33 ai-sdk/provider-utils/4.0.23" }, "opencode"],
  [{ "user-agent": "claude-cli/2.1.197 (external, cli)" }, "claude-code"],
  [{ "user-agent": "codex_exec/0.169.0 (Debian 12.0.0; x86_64)" }, "codex"],
  [{ "user-agent": "OpenAI/Python 2.20.0" }, null],
  [{ "user-agent": "OpenAI/Python 2.20.0", "x-imprint-agent": "aider" }, "aider"],
])("knows by %j who asks", async (headers, agent) => {
  const { ask, newest } = setUp();
  await ask(HI, by.assistant("Hello."), { headers });
  expect(newest()[0]?.agent).toBe(agent);
});

test("a session that cannot be stored is one line in the log, and no error of the answer", async () => {
  const lines: unknown[] = [];
  const recorder = createRecorder({
    sessions: { record: () => Promise.reject(new Error("the disk is full")) },
    always: true,
    log: { ...quietLog(), error: (line: unknown) => void lines.push(line) },
    now: () => new Date(0),
  });
  const add = recorder.record({ model: "m-1", conversation: { messages: HI, tools: [] }, headers: {} });
  for (const event of told(by.assistant("Hello."))) add?.(event);
  await recorder.close();
  expect(lines).toHaveLength(1);
});

test("conversations of different groups are different sessions, whatever was said, and their ids begin with the group", async () => {
  const { ask, newest } = setUp(false);
  for (const group of ["first", "second"]) {
    const headers = { "x-imprint-record": "1", "x-imprint-group": group };
    await ask([by.user("Fix it.")], by.assistant("Done.", []), { headers });
  }
  expect(newest().map(({ session_id }) => session_id.split("-")[0])).toEqual(["first", "second"]);
  await expect(
    ask([by.user("Fix it.")], by.assistant("Done.", []), { headers: { "x-imprint-group": "No name" } }),
  ).rejects.toThrow('The header x-imprint-group is "No name"');
});
