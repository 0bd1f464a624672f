import { basename, join } from "node:path";
import { type Probe, Proof, type ServedBy } from "@imprint/contracts";
import { ImprintError } from "../common/error.js";
import { readRecord } from "../storage/durable.js";

/** What an engine says after a prompt, greedily. */
export interface Said {
  readonly text: string;
  /** Logarithms of the probabilities of the likeliest next tokens, by their ids or their texts; null where it does not tell them. */
  readonly likeliest: ReadonlyMap<string, number> | null;
}

/** Without the adapter and with it. */
export interface Pair {
  readonly before: Said;
  readonly after: Said;
}

export interface Asked {
  /** The adapter's folder. */
  readonly adapter: string;
  /** The engine, and where it is. */
  readonly by: string;
  /** Asks after the prompts of the proof's probes, of which older proofs have none. */
  readonly ask: (prompts: readonly (readonly number[])[]) => Promise<readonly Pair[]>;
}

export const pairsOf = async <Prompt>(
  prompts: readonly Prompt[],
  say: (prompt: Prompt, isAdapted: boolean) => Promise<Said>,
): Promise<readonly Pair[]> => {
  const pairs: Pair[] = [];
  for (const prompt of prompts) pairs.push({ before: await say(prompt, false), after: await say(prompt, true) });
  return pairs;
};

/** Rejects with ImprintError ADAPTER_NOT_APPLIED where the engine answers as if it had no adapter, and with what `ask` rejects with. */
export type Prove = (asked: Asked) => Promise<void>;

/** Nats a probe: an engine that multiplies the trainer's own weights is off by less. */
const TOLERANCE = 0.05;
/** The same numbers, as the same weights give them. */
const ALIKE = 1e-6;

/** Null for what is not among the likeliest. */
const logprobOf = ({ likeliest }: Said, { token, text }: Probe): number | null =>
  likeliest?.get(`${token}`) ?? likeliest?.get(text) ?? null;

const areAlike = ({ before, after }: Pair): boolean => {
  const [one, other] = [before.likeliest, after.likeliest];
  if (one === null || other === null) return before.text === after.text;
  const differs = ([token, logprob]: readonly [string, number]): boolean =>
    Math.abs((other.get(token) ?? Number.POSITIVE_INFINITY) - logprob) >= ALIKE;
  return one.size === other.size && ![...one].some(differs);
};

/** By how much what the adapter changes at an engine is off from the proof, and how much it changes in the proof; nats a probe. */
const compared = (probes: readonly Probe[], pairs: readonly Pair[]): { readonly off: number; readonly moved: number } | null => {
  const found = probes.flatMap((probe, at) => {
    const pair = pairs[at];
    const [before, after] = [pair && logprobOf(pair.before, probe), pair && logprobOf(pair.after, probe)];
    if (before == null || after == null) return [];
    const moved = probe.after - probe.before;
    return [{ off: Math.abs(after - before - moved), moved: Math.abs(moved) }];
  });
  if (found.length === 0) return null;
  const mean = (of: "off" | "moved"): number => found.reduce((sum, one) => sum + one[of], 0) / found.length;
  return { off: mean("off"), moved: mean("moved") };
};

/** `record` is told what was found, before anything is refused. */
export const createProve =
  ({
    record,
    now,
  }: {
    readonly record: (adapterId: string, served: ServedBy) => Promise<void>;
    readonly now: () => Date;
  }): Prove =>
  async ({ adapter, by, ask }) => {
    const id = basename(adapter);
    const probes = (await readRecord(Proof, join(adapter, "proof.json")))?.probes ?? [];
    const pairs = await ask(probes.map(({ prompt }) => prompt));
    const figures = compared(probes, pairs);
    const off = figures?.off ?? null;
    const isAlike = pairs.every(areAlike);
    // Weights that are rounded otherwise are off by more: half of what the adapter changes is as far from applied as from not.
    const applied = !isAlike && (figures === null || figures.off <= Math.max(TOLERANCE, figures.moved / 2));
    await record(id, { by, applied, off, measured_at: now().toISOString() });
    if (applied) return;
    const how = isAlike || off === null ? "alike with it and without it" : `${off.toFixed(2)} nats off from its proof`;
    throw new ImprintError("ADAPTER_NOT_APPLIED", `${by} does not apply the adapter ${id}: it answers ${how}.`);
  };
