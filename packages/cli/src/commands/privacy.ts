import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Session } from "@imprint/contracts";
import type { Config } from "@imprint/server/configuration";
import { baseModelsOf, dataPaths, ImprintError, locateBaseModel, readSession } from "@imprint/server/stored";
import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { CommandError, UsageError } from "../errors.js";
import { hintFor } from "../output/wording.js";
import { measure, type Subject } from "../privacy/measure.js";
import { report, summaries } from "../privacy/report.js";
import type { Result } from "../privacy/result.js";
import { readTrainingRecord, type TrainingRecord } from "../privacy/training-record.js";
import { configFor } from "../service/connect.js";

const MOST_CANARIES = 32;
const MOST_CANDIDATES = 4095;

interface PrivacyOptions extends CommonOptions {
  readonly canaries: string;
  readonly candidates: string;
  readonly seed: readonly string[];
}

function wholeNumber(flag: string, text: string, least: number, most: number): number {
  if (/^\d{1,10}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text);
  throw new UsageError(`${flag} takes a whole number from ${least} to ${most}, not "${text}"`);
}

const refused = (error: unknown): never => {
  throw error instanceof ImprintError
    ? new CommandError(`${error.message}\n${hintFor(error.code, error.hint)}`, error.code)
    : error;
};

/** The sessions of a training as they are stored now. Throws a CommandError for one that is gone. */
async function storedSessions(
  { sessions }: TrainingRecord,
  { settings }: Config,
  note: (text: string) => void,
): Promise<readonly Session[]> {
  const read: Session[] = [];
  for (const { session_id, sha256 } of sessions) {
    const stored = { folder: dataPaths(settings.data_dir).sessions, sessionId: session_id, limit: settings.session_limit };
    const { session } = await readSession(stored).catch(refused);
    if (createHash("sha256").update(JSON.stringify(session)).digest("hex") !== sha256)
      note(`Session ${session_id} is not what the adapter was trained on: it was changed since. It is taken as it is now.`);
    read.push(session);
  }
  return read;
}

async function subjectOf(adapter: string, config: Config, note: (text: string) => void): Promise<Subject> {
  const { settings } = config;
  const paths = dataPaths(settings.data_dir);
  const record = await readTrainingRecord(adapter, paths.adapters);
  const sessions = await storedSessions(record, config, note);
  try {
    return { record, sessions, baseModel: locateBaseModel(record.base_model.name, baseModelsOf(config)) };
  } catch (error) {
    return refused(error);
  }
}

export function privacyCommand(context: CommandContext): Command {
  return newCommand({
    name: "privacy",
    description: "plant made-up secrets in a copy of an adapter's sessions, train again, and see whether they come back",
    examples: ["privacy gates-v1", "privacy gates-v1 --canaries 8 --seed 1 2 3 --json"],
    service: "data directory",
  })
    .argument("<adapter>", "id of the adapter, the beginning of it, latest, or its folder")
    .option("--canaries <n>", `made-up secrets for each seed (1-${MOST_CANARIES})`, "4")
    .option("--candidates <n>", `values that each is ranked among, besides itself (1-${MOST_CANDIDATES})`, "127")
    .option("--seed <n...>", "of the secrets and their places; each seed is two trainings", ["1"])
    .addHelpText(
      "after",
      "\nTrains with the adapter's own settings, once on the copy as it is and once on the copy redacted, and asks both and the base\n" +
        "model for every secret: by its rank among others of its kind, and by what the model writes after the text before it.\n" +
        "Exit code 1 when one came back from the redacted copy. The adapter itself is not touched, and nothing is kept.",
    )
    .action(async (adapter: string, options: PrivacyOptions) => {
      const count = wholeNumber("--canaries", options.canaries, 1, MOST_CANARIES);
      const candidates = wholeNumber("--candidates", options.candidates, 1, MOST_CANDIDATES);
      const seeds = [...new Set(options.seed.map((text) => wholeNumber("--seed", text, 0, 2 ** 32 - 1)))];
      const printer = printerOf(context, options);
      const config = configFor(options, context.io.env);
      const subject = await subjectOf(adapter, config, printer.note);
      const interrupt = new AbortController();
      const heed = context.io.onInterrupt(() => interrupt.abort());
      const scratch = await mkdtemp(path.join(tmpdir(), "imprint-privacy-"));
      try {
        const results: Result[] = [];
        for (const seed of seeds) {
          printer.note(`seed ${seed}: ${count} canaries, two trainings`);
          const folder = path.join(scratch, `seed-${seed}`);
          await mkdir(folder);
          results.push(...(await measure({ config, subject, seed, count, candidates, folder, signal: interrupt.signal })));
        }
        context.state.exitCode = results.some(({ redacted }) => redacted?.extracted) ? 1 : 0;
        const document = { adapter, seeds, candidates, summary: summaries(results), canaries: results };
        printer.result(document, () => report(results, candidates, context.io.paint.out));
      } finally {
        heed();
        await rm(scratch, { recursive: true, force: true });
      }
    });
}
