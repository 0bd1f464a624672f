import { beforeAll, expect, test } from "vitest";
import { build, type Process, startProcess } from "../../support/process.js";
import { MODEL, makeFolder } from "../../support/service.js";

beforeAll(build, 120_000);

const MIB = 1024 * 1024;

/** Chat JSONL of `bytes` in 200 conversations. */
const trainingFile = (bytes: number): Blob => {
  const words = "mend the parser and run its tests again; ".repeat(Math.ceil(bytes / 200 / 41)).slice(0, bytes / 200);
  const line = (at: number): string => {
    const messages = [
      { role: "user", content: `Task ${at}: mend the parser.` },
      { role: "assistant", content: words },
    ];
    return `${JSON.stringify({ messages })}\n`;
  };
  return new Blob(Array.from({ length: 200 }, (_, at) => line(at)));
};

const upload = async (service: Process, file: Blob): Promise<string> => {
  const form = new FormData();
  form.append("purpose", "fine-tune");
  form.append("file", file, "train.jsonl");
  return ((await (await service.fetch("/v1/files", { method: "POST", body: form })).json()) as { id: string }).id;
};

const timed = async (call: () => Promise<Response>): Promise<number> => {
  const begun = performance.now();
  await (await call()).text();
  return performance.now() - begun;
};

// Again when the machine was busy with something else.
test("lists are answered at once while a fine-tune reads 30 MiB", { timeout: 60_000, retry: 2 }, async () => {
  const service = await startProcess(makeFolder());
  const training_file = await upload(service, trainingFile(30 * MIB));
  const list = () => timed(() => service.fetch("/adapters"));
  await list();

  let answered: Response | null = null;
  const start = service
    .fetch("/v1/fine_tuning/jobs", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: MODEL, training_file }),
    })
    .then((response) => {
      answered = response;
    });
  const waits: number[] = [];
  while (answered === null) waits.push(await list());
  await start;
  expect((answered as Response).status).toBe(200);
  const p99 = waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.99)] ?? 0;
  expect(p99).toBeLessThan(50);
});
