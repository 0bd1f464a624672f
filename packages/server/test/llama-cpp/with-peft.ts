import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Probe } from "@imprint/contracts";
import { findRepoRoot } from "../../src/config/setup.js";
import { goodProof } from "../fixtures/workers/support/adapter.mjs";
import { prepared } from "../support/prepared.js";

/** Probabilities of the likeliest next tokens. */
type Likeliest = readonly (readonly [token: number, probability: number])[];
export interface Answers {
  /** To the first prompt. */
  readonly greedy: readonly number[];
  readonly next: readonly Likeliest[];
}
export interface Said {
  /** Of the adapter. */
  readonly folder: string;
  /** Of an adapter that changes nothing. */
  readonly idle: string;
  readonly probes: readonly Probe[];
  readonly file: string;
  readonly prompts: readonly (readonly number[])[];
  readonly base: Answers;
  readonly adapter: Answers;
}

export const withPeft = async (out: string): Promise<Said> => {
  const root = findRepoRoot();
  const setup = prepared();
  const script = fileURLToPath(new URL("./with_peft.py", import.meta.url));
  const env = { ...process.env, PYTHONPATH: join(root, "trainer", "src"), HF_HUB_OFFLINE: "1", OMP_WAIT_POLICY: "PASSIVE" };
  const base = setup.models[setup.default_model] ?? "";
  const { stdout } = await promisify(execFile)(setup.python, [script, base, out], { env });
  return JSON.parse(stdout) as Said;
};

/** Beside the adapter, with what PEFT said. */
export const writeProof = ({ folder, probes }: Said): void =>
  writeFileSync(join(folder, "proof.json"), JSON.stringify({ ...goodProof, probes }));
