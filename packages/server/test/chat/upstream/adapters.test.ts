import { join } from "node:path";
import { expect, test } from "vitest";
import { MODEL, makeFolder, makeModel, type Service, startLora, startService } from "../../support/service.js";
import { putSession } from "../../support/session.js";
import type { FakeOptions, startFake } from "./fake.js";
import { ask, begin, tools } from "./support.js";

const withAdapter = async (options: FakeOptions, flags: Readonly<Record<string, unknown>> = {}) => {
  const dataDir = makeFolder();
  const model = makeModel(join(dataDir, "models", "small-model"));
  const { fake, chats } = { ...(await begin({ model: "org/Small-Model", ...options }, {})) };
  const service = await startService({ dataDir, flags: { upstream: fake.url, base_model: model, ...flags } });
  putSession(dataDir, "s1");
  await service.ended(await startLora(service, { session_id: "s1", adapter_id: "mine" }));
  fake.asked.length = 0;
  return { fake, service, chats, dataDir };
};
/** The prompt that the fixture trainer's proofs name. */
const PROBE = [1, 2, 3];
const NONE = [0, 1].map((id) => ({ id, scale: 0 }));
const LETTERS = [1, ...[..."Look around."].map((letter) => letter.charCodeAt(0))];

test("vLLM is handed an adapter once, by its id and hash, and the tokens that the trainer renders", async () => {
  const { fake, service, chats, dataDir } = await withAdapter({
    pieces: ["Hi", "<tool_call>", '\n{"name": "bash", "arguments": {}}\n</tool_call>'],
  });
  const answer = (await ask(service, { model: "mine", tools })).json();
  expect(answer.choices[0]).toMatchObject({
    finish_reason: "tool_calls",
    message: { content: "Hi", tool_calls: [{ function: { name: "bash" } }] },
  });
  await ask(service, { model: "mine" });
  const [[name, path] = []] = fake.loaded;
  expect(name).toMatch(/^mine-[0-9a-f]{12}$/);
  expect(path).toBe(join(dataDir, "adapters", "mine"));
  expect(fake.asked.filter((one) => one.path === "/v1/load_lora_adapter")).toHaveLength(1);
  expect(chats()[1]?.body).toMatchObject({
    model: name,
    prompt: LETTERS,
    skip_special_tokens: true,
    stop_token_ids: expect.any(Array),
  });
  const ids = (await service.get("/v1/models")).json().data.map(({ id }: { id: string }) => id);
  expect(ids.filter((id: string) => id !== MODEL)).toEqual(["small-model", "mine", "org/Small-Model"]);
});

test("an adapter of the same id with other weights is another adapter", async () => {
  const { fake, service, dataDir } = await withAdapter({});
  await ask(service, { model: "mine" });
  const other = await startService({
    flags: { upstream: fake.url, base_model: makeModel(join(makeFolder(), "small-model")) },
    behaviour: {},
  });
  putSession(other.dataDir, "s1");
  await other.ended(await startLora(other, { session_id: "s1", adapter_id: "mine", rank: 16 }));
  expect((await ask(other, { model: "mine" })).statusCode).toBe(200);
  expect(fake.loaded.size).toBe(2);
  expect(dataDir).not.toBe(other.dataDir);
});

test("an upstream that forgot an adapter is handed it again, and one that sees another folder is told that one", async () => {
  const { fake, service } = await withAdapter({}, { upstream_adapters: "/mnt/adapters" });
  await ask(service, { model: "mine" });
  fake.loaded.clear();
  await ask(service, { model: "mine" });
  expect([...fake.loaded.values()]).toEqual(["/mnt/adapters/mine"]);
});

test("SGLang has its own address and its own way to name an adapter", async () => {
  const { fake, service, chats } = await withAdapter({ kind: "sglang" });
  expect((await ask(service, { model: "mine" })).statusCode).toBe(200);
  expect(fake.asked.some(({ path }) => path === "/load_lora_adapter")).toBe(true);
  expect(chats()[0]?.body.model).toMatch(/^org\/Small-Model:mine-[0-9a-f]{12}$/);
});

test("llama-server applies an adapter that it was started with to the chats that ask for it alone", async () => {
  const { fake, service, chats } = await withAdapter({ kind: "llamacpp" });
  await ask(service, { model: "mine" });
  expect(chats()).toEqual([]); // answered here: the adapter is not there
  const name = await nameOnVllm(service, fake);
  fake.change({ preloaded: ["/m/other.gguf", `/m/${name}.gguf`] });
  await ask(service, { model: "mine" });
  await ask(service, { model: "small-model" });
  await ask(service, { model: "org/Small-Model" });
  expect(chats().map(({ body }) => body.lora)).toEqual([[{ id: 1, scale: 1 }], NONE, NONE]);
});

test.each(["vllm", "sglang"] as const)(
  "a %s that drops an adapter without a word answers no chat of it, until it applies it",
  async (kind) => {
    const { fake, service, chats } = await withAdapter({ kind, applied: 0 });
    const answer = await ask(service, { model: "mine" });
    expect(answer.json().choices[0].message.content).toBe("adapter: Look around.");
    expect(chats()).toEqual([]);
    fake.change({ applied: 1 });
    for (const _ of [1, 2])
      expect((await ask(service, { model: "mine" })).json().choices[0].message.content).toBe("Hello there.");
    const probes = fake.asked.filter(({ path, body }) => path === "/v1/completions" && !body.stream);
    expect(probes.map(({ body }) => body.model === "org/Small-Model")).toEqual([true, false, true, false]);
  },
);

test("a llama-server that drops an adapter is seen too, by what it says where it tells no probabilities", async () => {
  const { fake, service, chats } = await withAdapter({ kind: "llamacpp" });
  const name = await nameOnVllm(service, fake);
  fake.change({ preloaded: [`/m/${name}.gguf`], applied: 0 });
  for (const silentOnProbabilities of [false, true]) {
    fake.change({ silentOnProbabilities });
    await ask(service, { model: "mine" });
    expect(chats()).toEqual([]);
  }
  fake.change({ applied: 1 });
  await ask(service, { model: "mine" });
  expect(chats()).toHaveLength(1);
});

const handOver = async (service: Service) => {
  const answer = await service.post("/adapters/mine/serve");
  const { served } = (await service.get("/adapters/mine")).json();
  return { answer, served };
};

test.each([
  ["vllm", 1, true, 0],
  ["vllm", 0.9, true, 0.05],
  ["sglang", 1, true, 0],
  ["vllm", 0.3, false, 0.35],
  ["sglang", 2, false, 0.5],
  ["sglang", 0, false, 0.5],
] as const)(
  "a hand-over to %s that applies %d of an adapter is told, and recorded: %s",
  async (kind, applied, isApplied, off) => {
    const { fake, service, chats } = await withAdapter({ kind, applied });
    const { answer, served } = await handOver(service);
    const { port } = new URL(fake.url);
    const found = {
      by: `${kind} at 127.0.0.1:${port}`,
      applied: isApplied,
      off: expect.closeTo(off),
      measured_at: expect.any(String),
    };
    expect(served).toEqual(found);
    if (isApplied) expect([answer.statusCode, answer.json().served]).toEqual([200, found]);
    else expect([answer.statusCode, answer.json().code]).toEqual([502, "ADAPTER_NOT_APPLIED"]);
    const asked = fake.asked.filter(({ path }) => path === "/v1/completions").map(({ body }) => body.prompt);
    expect(asked).toEqual([PROBE, PROBE]);
    await ask(service, { model: "mine" });
    expect(chats()).toHaveLength(isApplied ? 1 : 0);
    fake.change({ applied: 1 });
    expect((await handOver(service)).served).toMatchObject({ applied: true, off: expect.closeTo(0) });
  },
);

test("what another server cannot take is said, and the trainer proved its adapters itself", async () => {
  const { fake, service } = await withAdapter({ runtimeLora: false });
  expect((await handOver(service)).answer.json()).toMatchObject({ status: 422, code: "EXPORT_UNSUPPORTED" });
  fake.change({ kind: "organization_owner" });
  const { answer, served } = await handOver(service);
  expect([answer.statusCode, served]).toEqual([200, null]);
  expect((await service.post("/adapters/nobody/serve")).statusCode).toBe(404);
});

test.each([
  ["as its base", "Hello there.", false],
  ["otherwise", "Gates are open.", true],
])("a model of Ollama with an adapter's name that answers %s has it merged into it: %s", async (_how, says, applied) => {
  const others = { "mine:latest": says };
  const { service } = await withAdapter({ kind: "organization_owner", model: "small-model:latest", others });
  const { answer, served } = await handOver(service);
  expect(served).toMatchObject({ by: expect.stringMatching(/^mine:latest at /), applied, off: null });
  expect(answer.statusCode).toBe(applied ? 200 : 502);
});

const nameOnVllm = async (service: Service, fake: Awaited<ReturnType<typeof startFake>>): Promise<string> => {
  fake.change({ kind: "vllm" });
  await ask(service, { model: "mine" });
  fake.change({ kind: "llamacpp" });
  fake.asked.length = 0;
  return [...fake.loaded.keys()][0] ?? "";
};

test.each([
  ["LM Studio, which takes no adapters", { kind: "organization_owner" }],
  ["a vLLM that may load none at run time", { runtimeLora: false }],
  ["an upstream without the base", { model: "another" }],
] as const)("%s leaves an adapter's chats to this machine", async (_what, options) => {
  const { service, chats } = await withAdapter(options);
  expect((await ask(service, { model: "mine" })).json().choices[0].message.content).toBe("adapter: Look around.");
  expect(chats()).toEqual([]);
});
