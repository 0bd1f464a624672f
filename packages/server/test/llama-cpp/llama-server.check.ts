import { spawn } from "node:child_process";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { ServedBy } from "@imprint/contracts";
import { expect, onTestFinished, test } from "vitest";
import { createProve } from "../../src/chat/applied.js";
import { createUpstreamAdapters } from "../../src/chat/upstream/adapters.js";
import { createUpstreamHttp } from "../../src/chat/upstream/http.js";
import { copyOf, listModels } from "../../src/chat/upstream/models.js";
import { createWeightsHash } from "../../src/chat/weights-hash.js";
import { makeFolder } from "../support/service.js";
import { baseGguf } from "./llama-cpp.js";
import { withPeft, writeProof } from "./with-peft.js";

const MINUTES = 60_000;

/** The address of a real llama-server that was started with this LoRA file. */
const startServer = async (lora: string): Promise<string> => {
  const program = fileURLToPath(new URL("./llama_server.py", import.meta.url));
  const python = process.env.LLAMA_SERVER_PYTHON ?? "";
  const child = spawn(python, [program, baseGguf(), "small-model", lora], { stdio: ["pipe", "pipe", "ignore"] });
  onTestFinished(() => void child.stdin.end());
  for await (const line of createInterface({ input: child.stdout })) if (line.startsWith("http")) return line;
  throw new Error("llama-server ended before it answered");
};

test("a real llama-server that applies an adapter is told from one that does not", { timeout: 20 * MINUTES }, async () => {
  const out = makeFolder();
  const said = await withPeft(out);
  writeProof(said);
  const name = `adapter-${(await createWeightsHash()(said.folder)).slice(0, 12)}.gguf`;
  const found: ServedBy[] = [];
  const prove = createProve({ record: async (_id, served) => void found.push(served), now: () => new Date(0) });

  const handOver = async (file: string): Promise<true> => {
    const lora = join(makeFolder(), name);
    copyFileSync(file, lora);
    const url = await startServer(lora);
    const { host } = new URL(url);
    const http = createUpstreamHttp({ url, host, token: null });
    const adapters = createUpstreamAdapters({ http, host, folder: null, prove });
    const listed = await listModels(http);
    const model = copyOf("small-model", listed);
    if (model === null) throw new Error(`it lists ${JSON.stringify(listed)}`);
    const place = { model, attached: await adapters.attach(said.folder, model, listed) };
    return adapters.prove({ adapter: said.folder, place, prompt: [] });
  };

  await handOver(said.file);
  await expect(handOver(said.idle)).rejects.toMatchObject({ code: "ADAPTER_NOT_APPLIED" });
  expect(found).toMatchObject([{ by: expect.stringMatching(/^llamacpp at 127/), applied: true }, { applied: false }]);
  const { probes } = JSON.parse(readFileSync(join(said.folder, "proof.json"), "utf8"));
  const moved = probes.map(({ before, after }: { before: number; after: number }) => Math.abs(after - before));
  console.log(JSON.stringify({ off: found.map(({ off }) => off), moved }));
});
