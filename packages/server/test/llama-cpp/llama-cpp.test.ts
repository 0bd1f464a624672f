import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ServedBy } from "@imprint/contracts";
import { expect, onTestFinished, test } from "vitest";
import { createProve } from "../../src/chat/applied.js";
import { llamaCppEntry } from "../../src/chat/choose.js";
import { createProveLoaded } from "../../src/chat/llama-cpp/applied.js";
import { createLlamaProcess } from "../../src/chat/llama-cpp/process.js";
import { findRepoRoot } from "../../src/config/setup.js";
import { makeFolder } from "../support/service.js";
import { type Answer, askLlamaCpp, baseGguf } from "./llama-cpp.js";
import { type Answers, withPeft, writeProof } from "./with-peft.js";

const MINUTES = 60_000;
/** A CPU that multiplies bf16 is handed weights in it, and llama.cpp rounds activations to it too. */
const hasBf16 = existsSync("/proc/cpuinfo") && /\bavx512_bf16\b/.test(readFileSync("/proc/cpuinfo", "utf8"));
/** Both compute with the same NF4 weights; PEFT multiplies them in fp32. Measured: 0.0015, in bf16 0.023. */
const ROUNDING = hasBf16 ? 0.05 : 0.01;
/** An adapter that is not applied is further off. */
const APPLIED = 0.3;

/** The largest difference of a probability, over PEFT's likeliest tokens. */
const distance = (peft: Answers, llama: readonly Answer[]): number =>
  Math.max(
    ...peft.next.flatMap((likeliest, at) =>
      likeliest.map(([token, probability]) => Math.abs(probability - (llama[at]?.next.get(token) ?? 0))),
    ),
  );

test("llama.cpp answers with an exported adapter what PEFT answers with the adapter itself", {
  timeout: 8 * MINUTES,
}, async () => {
  const said = await withPeft(makeFolder());
  const { file, prompts, base, adapter } = said;
  const tokens = adapter.greedy.length;
  const bare = await askLlamaCpp(baseGguf(), null, prompts, tokens);
  const adapted = await askLlamaCpp(baseGguf(), file, prompts, tokens);

  // The first question's answer was learned, so no rounding decides between two tokens.
  expect(adapted[0]?.greedy).toEqual(adapter.greedy);
  expect(bare[0]?.greedy).not.toEqual(adapted[0]?.greedy);
  expect(distance(base, bare)).toBeLessThan(ROUNDING);
  expect(distance(adapter, adapted)).toBeLessThan(ROUNDING);
  expect(distance(adapter, bare)).toBeGreaterThan(APPLIED);

  const found: ServedBy[] = [];
  const program = fileURLToPath(new URL("../../dist/chat/llama-cpp/llama-process.js", import.meta.url));
  const llama = createLlamaProcess({ library: llamaCppEntry(findRepoRoot()), program });
  onTestFinished(() => llama.close());
  const prove = createProve({ record: async (_id, served) => void found.push(served), now: () => new Date(0) });
  const proveLoaded = createProveLoaded(llama, prove);
  const rendered = { tokens: prompts[0] ?? [], context_length: 2048 } as never;
  writeProof(said);
  await proveLoaded(said.folder, { model: baseGguf(), adapter: file }, rendered);
  const idle = proveLoaded(said.folder, { model: baseGguf(), adapter: said.idle }, rendered);
  await expect(idle).rejects.toMatchObject({ code: "ADAPTER_NOT_APPLIED" });
  expect(found).toMatchObject([{ by: "llama.cpp", applied: true }, { applied: false }]);
});
