import fs, { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI, { APIUserAbortError, BadRequestError, NotFoundError, toFile } from "openai";
import { expect, test } from "vitest";
import { MODEL, makeFolder, type Service, startService } from "../../support/service.js";

const conversation = (topic: string): string =>
  JSON.stringify({
    messages: [
      { role: "user", content: `What about ${topic}?` },
      { role: "assistant", content: `All about ${topic}.` },
    ],
  });

const JSONL = `${conversation("gates")}\n${conversation("harbours")}\n`;

const conversationLines = (count: number): string => `${conversation("gates")}\n`.repeat(count);

const clientOf = (service: Service): OpenAI => new OpenAI({ baseURL: `${service.url}/v1`, apiKey: "none", maxRetries: 0 });

const upload = async (client: OpenAI, text = JSONL) =>
  client.files.create({ file: await toFile(Buffer.from(text), "training.jsonl"), purpose: "fine-tune" });

/** The job once `ready` holds, asked for again and again as such clients do. */
const polled = async (client: OpenAI, id: string, ready: (job: OpenAI.FineTuning.FineTuningJob) => boolean) => {
  for (;;) {
    const job = await client.fineTuning.jobs.retrieve(id);
    if (ready(job)) return job;
  }
};

const collect = async <T>(pages: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const one of pages) all.push(one);
  return all;
};

test("the guide for those who leave OpenAI's fine-tuning does what it says", async () => {
  const guide = readFileSync(new URL("../../../../../docs/guides.md", import.meta.url), "utf8");
  const service = await startService();
  const file = join(makeFolder(), "train.jsonl");
  writeFileSync(file, JSONL);
  const block = (/^```js\n(.*?)^```/ms.exec(guide)?.[1] ?? "")
    .replace("http://127.0.0.1:7878", service.url)
    .replace("train.jsonl", file)
    .replace("qwen2.5-coder-0.5b-instruct", MODEL);
  const run = new Function("OpenAI", "fs", `return (async () => { ${block} return [client, job.id]; })()`);
  const [client, id] = (await run(OpenAI, fs)) as [OpenAI, string];
  expect((await polled(client, id, ({ fine_tuned_model }) => fine_tuned_model !== null)).status).toBe("succeeded");
});

test("a whole fine-tune: upload, create, follow, and chat with the model", async () => {
  const client = clientOf(await startService());
  const file = await upload(client);
  expect(file).toMatchObject({ object: "file", filename: "training.jsonl", bytes: JSONL.length, purpose: "fine-tune" });
  const created = await client.fineTuning.jobs.create({
    model: MODEL,
    training_file: file.id,
    suffix: "gates",
    seed: 7,
    method: {
      type: "supervised",
      supervised: { hyperparameters: { n_epochs: 2, learning_rate_multiplier: 2, batch_size: "auto" } },
    },
    metadata: { team: "harbour" },
  });
  expect(created).toMatchObject({
    object: "fine_tuning.job",
    model: MODEL,
    training_file: file.id,
    seed: 7,
    hyperparameters: { n_epochs: 2, learning_rate_multiplier: 2 },
    result_files: [],
    metadata: { team: "harbour" },
  });
  const done = await polled(client, created.id, ({ status }) => status === "succeeded");
  expect(done).toMatchObject({ error: null, trained_tokens: 180, hyperparameters: { batch_size: 1 } });
  expect(done.fine_tuned_model).toMatch(/^ft-gates-[0-9a-f]{8}$/);

  const events = await collect(client.fineTuning.jobs.listEvents(created.id, { limit: 2 }));
  expect(events.map(({ message }) => message).reverse()).toEqual([
    `Created fine-tuning job: ${created.id}`,
    `Validated training file ${file.id}: 2 conversations`,
    "Job enqueued",
    "Fine-tuning job started",
    "Training on 120 supervised tokens in 2 windows, up to 3 steps",
    "Step 1/3: training loss=2.5000",
    "Step 2/3: training loss=1.2500",
    "Step 3/3: training loss=0.8333",
    `New fine-tuned model created: ${done.fine_tuned_model}`,
    "The job has successfully completed",
  ]);
  expect(events.find(({ type }) => type === "metrics")?.data).toMatchObject({ step: 3, total_steps: 3 });
  const checkpoints = await collect(client.fineTuning.jobs.checkpoints.list(created.id));
  expect(checkpoints).toMatchObject([{ fine_tuned_model_checkpoint: done.fine_tuned_model, step_number: 3 }]);

  expect((await collect(client.models.list())).map(({ id }) => id)).toContain(done.fine_tuned_model);
  expect(await client.models.retrieve(done.fine_tuned_model ?? "")).toMatchObject({ owned_by: "imprint" });
  const stream = await client.chat.completions.create({
    model: done.fine_tuned_model ?? "",
    messages: [{ role: "user", content: "What about gates?" }],
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks = await collect(stream);
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("adapter: What about gates?");
  expect(chunks.at(-1)?.usage?.total_tokens).toBe(7);
});

test("files are listed page by page, read back and deleted", async () => {
  const client = clientOf(await startService());
  const ids: string[] = [];
  for (const topic of ["one", "two", "three"]) ids.unshift((await upload(client, conversation(topic))).id);
  expect((await collect(client.files.list({ limit: 2 }))).map(({ id }) => id)).toEqual(ids);
  expect((await collect(client.files.list({ order: "asc" }))).map(({ id }) => id)).toEqual([...ids].reverse());
  const [last = ""] = ids;
  expect(await (await client.files.content(last)).text()).toBe(conversation("three"));
  expect(await client.files.delete(last)).toEqual({ id: last, object: "file", deleted: true });
  await expect(client.files.retrieve(last)).rejects.toBeInstanceOf(NotFoundError);
  await expect(client.files.content(last)).rejects.toBeInstanceOf(NotFoundError);
});

test("a running job is cancelled, and jobs are listed newest first", async () => {
  const folder = makeFolder();
  const client = clientOf(await startService({ behaviour: { wait_for: join(folder, "go") } }));
  const file = await upload(client);
  const start = () => client.fineTuning.jobs.create({ model: MODEL, training_file: file.id });
  const [first, second] = [await start(), await start()];
  expect((await collect(client.fineTuning.jobs.list({ limit: 1 }))).map(({ id }) => id)).toEqual([second.id, first.id]);
  await polled(client, first.id, ({ status }) => status === "running");
  expect((await client.fineTuning.jobs.retrieve(second.id)).status).toBe("queued");
  await client.fineTuning.jobs.cancel(first.id);
  await polled(client, first.id, ({ status }) => status === "cancelled");
  await expect(client.fineTuning.jobs.cancel(first.id)).rejects.toBeInstanceOf(BadRequestError);
  writeFileSync(join(folder, "go"), "");
  await polled(client, second.id, ({ status }) => status === "succeeded");
});

test("a job that fails says why", async () => {
  const fail = { code: "OUT_OF_MEMORY", message: "There is no memory left.", hint: "Close other programs." };
  const client = clientOf(await startService({ behaviour: { fail } }));
  const { id } = await client.fineTuning.jobs.create({ model: MODEL, training_file: (await upload(client)).id });
  const failed = await polled(client, id, ({ status }) => status === "failed");
  expect(failed).toMatchObject({
    fine_tuned_model: null,
    trained_tokens: null,
    error: { code: "out_of_memory", message: "There is no memory left. Close other programs." },
  });
});

test.each([
  ["an unknown file", { training_file: "file-0" }, NotFoundError, null],
  ["an unknown model", { model: "gpt-5" }, BadRequestError, null],
  ["a batch size", { hyperparameters: { batch_size: 8 } }, BadRequestError, "hyperparameters.batch_size"],
  ["preferences", { method: { type: "dpo" } }, BadRequestError, "method.type"],
  ["a validation file", { validation_file: "file-0" }, BadRequestError, "validation_file"],
  ["a suffix that no id can hold", { suffix: "Über" }, BadRequestError, "suffix"],
  ["an unknown field", { n_epochs: 3 }, BadRequestError, "n_epochs"],
])("a fine-tune with %s is refused by name", async (_case, change, Class, param) => {
  const service = await startService();
  const client = clientOf(service);
  const body = { model: MODEL, training_file: (await upload(client)).id, ...change };
  const refused = client.fineTuning.jobs.create(body as OpenAI.FineTuning.JobCreateParams);
  await expect(refused).rejects.toBeInstanceOf(Class);
  await expect(refused).rejects.toMatchObject({ param });
  expect(service.jobs.list({ limit: 1 }).jobs).toEqual([]);
});

test.each([
  ["prose", "Once upon a time there was a gate.", "line 1 is not JSON"],
  ["nothing", "\n", "empty"],
  ["a broken line", `${JSONL}{"messages": [`, "line 3 is not JSON"],
  ["a line of another kind", `${JSONL}{"text": "a gate"}\n`, "line 3 is no"],
  ["an unknown role", '{"messages": [{"role": "wizard", "content": "Hello?"}]}\n', "role in message 1"],
  ["nothing that an assistant says", '{"messages": [{"role": "user", "content": "Hello?"}]}\n', "assistant"],
  ["too many conversations", conversationLines(1001), "more than 1000"],
])("a file with %s is refused when it is to be trained on", async (_case, text, reason) => {
  const client = clientOf(await startService());
  const refused = client.fineTuning.jobs.create({ model: MODEL, training_file: (await upload(client, text)).id });
  await expect(refused).rejects.toMatchObject({ status: 400, param: "training_file", message: expect.stringContaining(reason) });
});

test("a client that aborts its stream gets its own error, and the chat ends", async () => {
  const client = clientOf(await startService({ behaviour: { hold_chats: join(makeFolder(), "held"), hold_after: 1 } }));
  const messages = [{ role: "user" as const, content: "one two three" }];
  const stream = await client.chat.completions.create({ model: MODEL, messages, stream: true });
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content) stream.controller.abort();
  const next = client.chat.completions.create({ model: MODEL, messages, stream: true }, { signal: AbortSignal.timeout(5_000) });
  await expect(next).resolves.toBeDefined();
  const gone = new AbortController();
  const asked = client.chat.completions.create({ model: MODEL, messages }, { signal: gone.signal });
  gone.abort();
  await expect(asked).rejects.toBeInstanceOf(APIUserAbortError);
});
