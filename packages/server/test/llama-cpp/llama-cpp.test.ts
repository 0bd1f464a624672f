import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { findRepoRoot, readSetup } from "../../src/config/setup.js";
import { makeFolder } from "../support/service.js";
import { type Answer, askLlamaCpp, baseGguf } from "./llama-cpp.js";

const MINUTES = 60_000;
/** Both compute with the same NF4 weights: llama.cpp rounds them to 16 bits, PEFT multiplies them in fp32. Measured: 0.0015. */
const ROUNDING = 0.01;

/** Probabilities of the likeliest next tokens. */
type Likeliest = readonly (readonly [token: number, probability: number])[];
interface Answers {
  /** To the first prompt. */
  readonly greedy: readonly number[];
  readonly next: readonly Likeliest[];
}
interface Said {
  readonly file: string;
  readonly prompts: readonly (readonly number[])[];
  readonly base: Answers;
  readonly adapter: Answers;
}

const withPeft = async (out: string): Promise<Said> => {
  const root = findRepoRoot();
  const setup = readSetup(root);
  if (setup === null) throw new Error("run npm run setup first: this test trains on the default model");
  const script = fileURLToPath(new URL("./with_peft.py", import.meta.url));
  const env = { ...process.env, PYTHONPATH: join(root, "trainer", "src"), HF_HUB_OFFLINE: "1", OMP_WAIT_POLICY: "PASSIVE" };
  const base = setup.models[setup.default_model] ?? "";
  const { stdout } = await promisify(execFile)(setup.python, [script, base, out], { env });
  return JSON.parse(stdout) as Said;
};

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
  const { file, prompts, base, adapter } = await withPeft(makeFolder());
  const tokens = adapter.greedy.length;
  const bare = await askLlamaCpp(baseGguf(), null, prompts, tokens);
  const adapted = await askLlamaCpp(baseGguf(), file, prompts, tokens);

  // The first question's answer was learned, so no rounding decides between two tokens.
  expect(adapted[0]?.greedy).toEqual(adapter.greedy);
  expect(bare[0]?.greedy).not.toEqual(adapted[0]?.greedy);
  expect(distance(base, bare)).toBeLessThan(ROUNDING);
  expect(distance(adapter, adapted)).toBeLessThan(ROUNDING);
  expect(distance(adapter, bare)).toBeGreaterThan(30 * ROUNDING);
});
