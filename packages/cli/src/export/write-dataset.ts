import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import type { Session } from "@imprint/contracts";
import { toAtif, toMessages } from "@imprint/sessions";
import { type DatasetFacts, datasetCard } from "./dataset-card.js";
import { makeTarget, notWritten, type Target } from "./target.js";

export const DATASET_FORMATS = ["messages", "atif", "hub"] as const;
export type DatasetFormat = (typeof DATASET_FORMATS)[number];

/** A stored session and when its recording began. */
export interface Dated {
  readonly id: string;
  readonly startedAt: string | null;
}

/** A split and its sessions, oldest first. */
export interface Split {
  readonly name: "train" | "test";
  readonly sessions: readonly Dated[];
}

/** Oldest first, those without a time before all others; the newest share of them is the test. */
export function splitByTime(sessions: readonly Dated[], testShare: number): readonly Split[] {
  const byTime = sessions.toSorted(
    (left, right) => (left.startedAt ?? "").localeCompare(right.startedAt ?? "") || left.id.localeCompare(right.id),
  );
  const held = Math.min(byTime.length - 1, Math.round(byTime.length * testShare));
  const [train, test] = [byTime.slice(0, byTime.length - held), byTime.slice(byTime.length - held)];
  return [{ name: "train" as const, sessions: train }, ...(held > 0 ? [{ name: "test" as const, sessions: test }] : [])];
}

/** Writes a file that appears whole or not at all, piece by piece. */
async function writeWhole(file: string, pieces: AsyncIterable<string> | Iterable<string>): Promise<void> {
  makeTarget(path.dirname(file));
  const draft = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.part`);
  try {
    await pipeline(pieces, createWriteStream(draft, { flags: "wx" }));
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw notWritten(file, error);
  }
}

const addTo = (counts: Map<string, number>, key: string, amount: number): void =>
  void counts.set(key, (counts.get(key) ?? 0) + amount);

/** Counts what is written, for the card and the command's answer. */
function tally() {
  const agents = new Map<string, number>();
  const removed = new Map<string, number>();
  let [messages, learned] = [0, 0];
  return {
    add(session: Session): void {
      const row = toMessages(session);
      addTo(agents, session.source.agent ?? session.source.format, 1);
      for (const { kind, count } of session.redactions) addTo(removed, kind, count);
      messages += row.messages.length;
      learned += row.messages.filter(({ weight }) => weight === 1).length;
    },
    facts: (splits: readonly Split[]): DatasetFacts => ({
      splits: splits.map(({ name, sessions }) => {
        const times = sessions.flatMap(({ startedAt }) => startedAt ?? []);
        return { name, rows: sessions.length, from: times.at(0) ?? null, to: times.at(-1) ?? null };
      }),
      agents: [...agents],
      messages,
      learned,
      redactions: [...removed].map(([kind, count]) => ({ kind, count })),
    }),
  };
}

/** Writes the splits in a format, one session in memory at a time, and answers what was written. */
export async function writeDataset({
  format,
  splits,
  target: { folder, nameOf },
  read,
}: {
  readonly format: DatasetFormat;
  readonly splits: readonly Split[];
  readonly target: Target;
  readonly read: (id: string) => Promise<Session>;
}): Promise<DatasetFacts> {
  const counted = tally();
  async function* rows(sessions: readonly Dated[]): AsyncGenerator<string> {
    for (const { id } of sessions) {
      const session = await read(id);
      counted.add(session);
      yield `${JSON.stringify(toMessages(session))}\n`;
    }
  }
  for (const { name, sessions } of splits) {
    if (format === "messages") await writeWhole(path.join(folder, nameOf("sessions.jsonl")), rows(sessions));
    if (format === "hub") await writeWhole(path.join(folder, "data", `${name}.jsonl`), rows(sessions));
    if (format !== "atif") continue;
    for (const { id } of sessions) {
      const session = await read(id);
      counted.add(session);
      await writeWhole(path.join(folder, `${id}.json`), [`${JSON.stringify(toAtif(session), null, 2)}\n`]);
    }
  }
  const facts = counted.facts(splits);
  if (format === "hub") {
    await writeWhole(path.join(folder, "README.md"), [datasetCard(facts)]);
    await writeWhole(path.join(folder, "redactions.json"), [`${JSON.stringify(facts.redactions, null, 2)}\n`]);
  }
  return facts;
}
