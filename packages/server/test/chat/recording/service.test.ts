import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "@imprint/contracts";
import { expect, test, vi } from "vitest";
import { MODEL, makeFolder, type Service, startService } from "../../support/service.js";

/** What the trainer's tests render as a session, and as the prompts of chats: the same tokens. */
const FIXTURE = new URL("../../../../../trainer/tests/fixtures/conversation-with-tools.json", import.meta.url);

const CALL = '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>';
const TASK = "Look around.";
const parameters = { type: "object", properties: { command: { type: "string" } } };
const RECORD = { "x-imprint-record": "1" };
const script = (...texts: string[]) => ({ behaviour: { script: texts } });

const post = async (service: Service, path: string, payload: object, headers: Record<string, string> = {}) => {
  const response = await service.call({ method: "POST", url: path, payload: { model: MODEL, ...payload }, headers });
  expect(response.statusCode).toBe(200);
  return response.json();
};

const listed = async (service: Service) => (await service.get("/sessions")).json().sessions;

const sessionsIn = (dataDir: string): Session[] =>
  readdirSync(join(dataDir, "sessions"))
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(join(dataDir, "sessions", name), "utf8")));

/** What was recorded: the end of the service waits for it. */
const recordedBy = async (service: Service): Promise<Session[]> => {
  await service.close(0);
  return sessionsIn(service.dataDir);
};

/** Storing follows the answer, on a busy machine by seconds. */
const eventually = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 15_000 });

const AGENT_STEPS = [
  { source: "user", text: TASK },
  { source: "agent", text: "", tool_calls: [{ name: "bash" }], observations: [{ content: "a.txt" }] },
  { source: "agent", text: "All done." },
];

test("a tool loop over chat completions is one session, shown like others", async () => {
  const service = await startService(script(CALL, "All done."));
  const tools = [{ type: "function", function: { name: "bash", description: "Runs.", parameters } }];
  const messages: object[] = [{ role: "user", content: TASK }];
  const headers = { ...RECORD, "user-agent": "opencode/1.18.33" };
  const { message } = (await post(service, "/v1/chat/completions", { messages, tools }, headers)).choices[0];
  await eventually(async () =>
    expect(await listed(service)).toMatchObject([{ format: "gateway", tool_calls: 1, tool_results: 0 }]),
  );
  messages.push(message, { role: "tool", tool_call_id: message.tool_calls[0].id, content: "a.txt" });
  await post(service, "/v1/chat/completions", { messages, tools }, headers);
  const counts = { tool_calls: 1, tool_results: 1, assistant_turns: 2, trainable_turns: 2, task: TASK, outcome: "unknown" };
  await eventually(async () => expect(await listed(service)).toMatchObject([counts]));
  const sessions = await recordedBy(service);
  expect(sessions).toMatchObject([
    {
      source: { format: "gateway", format_version: "1", agent: "opencode", model: MODEL },
      tools: [{ name: "bash", description: "Runs.", parameters }],
      steps: AGENT_STEPS,
    },
  ]);
  expect(sessions[0]?.steps[1]?.tool_calls?.[0]?.id).toBe(message.tool_calls[0].id);
});

test("a tool loop over Responses is one session", async () => {
  const service = await startService(script(CALL, "All done."));
  const tools = [{ type: "function", name: "bash", parameters }];
  const input: object[] = [{ role: "user", content: TASK }];
  const { output } = await post(service, "/v1/responses", { input, tools }, RECORD);
  input.push(...output, { type: "function_call_output", call_id: output.at(-1).call_id, output: "a.txt" });
  await post(service, "/v1/responses", { input, tools }, RECORD);
  expect(await recordedBy(service)).toMatchObject([{ source: { format: "gateway" }, steps: AGENT_STEPS }]);
});

test("a tool loop over Messages is one session", async () => {
  const service = await startService(script(CALL, "All done."));
  const tools = [{ name: "bash", input_schema: parameters }];
  const messages: object[] = [{ role: "user", content: TASK }];
  const asked = { messages, tools, max_tokens: 100, system: "Be brief." };
  const { content } = await post(service, "/v1/messages", asked, RECORD);
  messages.push(
    { role: "assistant", content },
    { role: "user", content: [{ type: "tool_result", tool_use_id: content.at(-1).id, content: "a.txt" }] },
  );
  await post(service, "/v1/messages", asked, RECORD);
  expect(await recordedBy(service)).toMatchObject([
    { source: { format: "gateway" }, steps: [{ source: "system", text: "Be brief." }, ...AGENT_STEPS] },
  ]);
});

interface FixtureMessage {
  readonly role: string;
  readonly content: string | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}
const { conversation, steps, tools: fixtureTools } = JSON.parse(readFileSync(FIXTURE, "utf8"));
const SENT: readonly FixtureMessage[] = conversation.messages.slice(0, -1);
const functions = conversation.tools.map(({ function: one }: { function: object }) => one);

const responsesItems = ({ role, content, tool_calls = [], tool_call_id }: FixtureMessage): object[] =>
  role === "tool"
    ? [{ type: "function_call_output", call_id: tool_call_id, output: content }]
    : [
        ...(content === null ? [] : [{ type: "message", role, content }]),
        ...tool_calls.map(({ id, function: call }) => ({ type: "function_call", call_id: id, ...call })),
      ];

/** Free text that is no JSON object is what this API shows of it. */
const inputOf = (text: string): object => {
  try {
    return JSON.parse(text);
  } catch {
    return { input: text };
  }
};
const messagesBlocks = ({ role, content, tool_calls = [], tool_call_id }: FixtureMessage): object => {
  const words = content === null ? [] : [{ type: "text", text: content }];
  const calls = tool_calls.map(({ id, function: call }) => ({
    type: "tool_use",
    id,
    name: call.name,
    input: inputOf(call.arguments),
  }));
  return role === "tool"
    ? { role: "user", content: [{ type: "tool_result", tool_use_id: tool_call_id, content }] }
    : { role, content: [...words, ...calls] };
};
/** Arguments as that API gives them to the engine, written anew. */
const rewritten = (all: typeof steps): typeof steps =>
  JSON.parse(JSON.stringify(all), (key, value) => (key === "arguments" ? JSON.stringify(inputOf(value)) : value));

test.each([
  ["/v1/chat/completions", { messages: SENT, tools: conversation.tools }, steps],
  [
    "/v1/responses",
    { input: SENT.flatMap(responsesItems), tools: functions.map((one: object) => ({ type: "function", ...one })) },
    steps,
  ],
  [
    "/v1/messages",
    {
      max_tokens: 100,
      system: SENT[0]?.content,
      messages: SENT.slice(1).map(messagesBlocks),
      tools: functions.map(({ parameters: input_schema, strict: _, ...one }: { parameters: object; strict?: boolean }) => ({
        ...one,
        input_schema,
      })),
    },
    rewritten(steps),
  ],
])(
  "the session of a conversation over %s is what the trainer's tests render, token for token, as its prompts",
  async (url, asked, expected) => {
    const service = await startService(script(conversation.messages.at(-1).content));
    await post(service, url, asked, RECORD);
    expect(await recordedBy(service)).toMatchObject([{ steps: expected, tools: fixtureTools }]);
  },
);

test("nothing is recorded that was not asked for; a service that records everything can be told not to", async () => {
  const ask = { messages: [{ role: "user", content: TASK }] };
  const quiet = await startService(script("Hi."));
  await post(quiet, "/v1/chat/completions", ask);
  expect(await recordedBy(quiet)).toEqual([]);
  const recording = await startService({ ...script("Hi."), flags: { record: true } });
  await post(recording, "/v1/chat/completions", ask);
  await post(recording, "/v1/chat/completions", { messages: [{ role: "user", content: "Psst." }] }, { "x-imprint-record": "0" });
  expect(await recordedBy(recording)).toMatchObject([{ steps: [{ text: TASK }, {}] }]);
});

test("an address with /record records, and may say who asks", async () => {
  const service = await startService(script("Hi."));
  const ask = { messages: [{ role: "user", content: TASK }] };
  await post(service, "/record/v1/chat/completions", ask);
  await post(service, "/record/mini-swe-agent/v1/chat/completions", { messages: [{ role: "user", content: "Go." }] });
  expect((await service.get("/record/pi/v1/models")).json().data).toMatchObject([{ id: MODEL }]);
  const agents = (await recordedBy(service)).map(({ source }) => source.agent);
  expect(agents.sort()).toEqual(["mini-swe-agent", null]);
});

test.each(["/record", "/record/claude-code", "/record/claude-code/"])("%s says that someone is there", async (url) => {
  const service = await startService();
  const [there, root] = [await service.call({ method: "HEAD", url }), await service.call({ method: "HEAD", url: "/" })];
  expect(there.statusCode).toBe(root.statusCode);
});

test.each(["/record/UPPER/v1/models", "/recorder/v1/models", "/record/a/b/v1/models"])("%s is no address", async (url) => {
  expect((await (await startService()).get(url)).statusCode).toBe(404);
});

test.each([
  [{ "x-imprint-record": "yes" }, "x-imprint-record"],
  [{ "x-imprint-agent": "Mr. X" }, "x-imprint-agent"],
])("a header that cannot be understood is refused by its name: %j", async (headers, name) => {
  const service = await startService();
  const payload = { model: MODEL, messages: [{ role: "user", content: "Hi" }] };
  const response = await service.call({ method: "POST", url: "/v1/chat/completions", payload, headers });
  expect(response.statusCode).toBe(400);
  expect(response.body).toContain(name);
});

test("a secret that a later turn shows for one is replaced where it stood before, in the same session", async () => {
  const service = await startService(script("What of it?", "I see."));
  const password = "vK9-wombat-Zq42xxT";
  const messages = [{ role: "user", content: `Use ${password} please.` }];
  await post(service, "/v1/chat/completions", { messages }, RECORD);
  await eventually(async () => expect(await listed(service)).toHaveLength(1));
  const grown = [...messages, { role: "assistant", content: "What of it?" }, { role: "user", content: `PASSWORD=${password}` }];
  await post(service, "/v1/chat/completions", { messages: grown }, RECORD);
  const sessions = await recordedBy(service);
  expect(sessions).toHaveLength(1);
  expect(sessions[0]?.steps).toHaveLength(4);
  expect(JSON.stringify(sessions)).not.toContain(password);
});

test("a label stays while the session grows, and a deleted session comes back with what it grows to", async () => {
  const service = await startService(script("One.", "Two.", "Three."));
  const messages: object[] = [{ role: "user", content: TASK }];
  const turn = async (answer: string) => {
    await post(service, "/v1/chat/completions", { messages }, RECORD);
    messages.push({ role: "assistant", content: answer }, { role: "user", content: "Go on." });
  };
  await turn("One.");
  await eventually(async () => expect(await listed(service)).toHaveLength(1));
  const [{ session_id }] = await listed(service);
  await service.call({ method: "PATCH", url: `/sessions/${session_id}`, payload: { outcome: "success" } });
  await turn("Two.");
  await eventually(async () =>
    expect(await listed(service)).toMatchObject([{ session_id, assistant_turns: 2, outcome: "success" }]),
  );
  await service.call({ method: "DELETE", url: `/sessions/${session_id}` });
  await turn("Three.");
  await eventually(async () => expect(await listed(service)).toMatchObject([{ session_id, assistant_turns: 3 }]));
});

test("a service that was started again makes another session of a conversation that goes on, which holds all of it", async () => {
  const dataDir = makeFolder();
  const messages: object[] = [{ role: "user", content: TASK }];
  const first = await startService({ dataDir, ...script("One.") });
  await post(first, "/v1/chat/completions", { messages }, RECORD);
  await first.close(0);
  const second = await startService({ dataDir, ...script("Two.") });
  messages.push({ role: "assistant", content: "One." }, { role: "user", content: "Go on." });
  await post(second, "/v1/chat/completions", { messages }, RECORD);
  await second.close(0);
  const lengths = sessionsIn(dataDir).map(({ steps }) => steps.length);
  expect(lengths.sort()).toEqual([2, 4]);
});

test("a conversation of many megabytes is recorded to the letter", { timeout: 60_000 }, async () => {
  const service = await startService(script("Long."));
  const content = "The gate takes the ports 7001 to 7042.\n".repeat(300_000);
  await post(service, "/v1/chat/completions", { messages: [{ role: "user", content }] }, RECORD);
  const [session] = await recordedBy(service);
  expect(session?.steps[0]?.text === content).toBe(true);
});
