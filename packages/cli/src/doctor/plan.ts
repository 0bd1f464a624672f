import { MemoryPlan } from "@imprint/contracts";
import { baseModelsOf, requestedBaseModel } from "@imprint/server/stored";
import { type Static, Type } from "typebox";
import { Errors } from "typebox/value";
import type { CommandContext, CommonOptions } from "../context.js";
import { CommandError } from "../errors.js";
import { optionOf, type Properties, readFlags } from "../flags/from-schema.js";
import { checkLoraRequest, LORA_PROPERTIES } from "../flags/training.js";
import { storedSessions } from "../ids/full-id.js";
import { megabytes, memoryOf, memoryTable } from "../output/memory.js";
import type { Paint } from "../output/paint.js";
import type { Printer } from "../output/printer.js";
import { table } from "../output/table.js";
import { namedBaseModel } from "../service/base-model.js";
import { configFor, withService } from "../service/connect.js";
import { runTrainer } from "../service/trainer.js";

const { base_model, rank, max_length, quantization } = LORA_PROPERTIES;
const TOKENS = Type.Integer({ minimum: 64, description: "Tokens of the longest session; default: as long as a window" });

/** What `doctor --plan` may be told of a training. */
export const PLAN_OPTIONS: Properties = { base_model, rank, max_length, quantization, tokens: TOKENS };
export const planOptions = () => Object.entries(PLAN_OPTIONS).map(([name, schema]) => optionOf(name, schema));

/** What the trainer answers: `python -m imprint_trainer.memory_report`. */
const Report = Type.Object({
  length: Type.Integer(),
  longest_window: Type.Integer(),
  gradient_checkpointing: Type.Boolean(),
  memory: Type.Union([MemoryPlan, Type.Null()]),
  imprint: Type.Union([MemoryPlan, Type.Null()]),
  windows: Type.Array(
    Type.Object({
      length: Type.Integer(),
      total_mb: Type.Number(),
      gradient_checkpointing: Type.Boolean(),
      fits: Type.Boolean(),
    }),
  ),
});
type Report = Static<typeof Report>;

function shown({ memory, imprint, length, windows, longest_window, gradient_checkpointing }: Report, paint: Paint): string {
  if (memory === null) return "The base model's config.json does not name the sizes that memory is predicted from.";
  const rows = windows.map((one) => [
    one.length.toLocaleString("en"),
    megabytes(one.total_mb),
    one.gradient_checkpointing ? "with checkpointing" : "",
    one.fits ? "fits" : "does not fit",
  ]);
  return [
    `${paint("bold", `A training on windows of ${length.toLocaleString("en")} tokens`)}${gradient_checkpointing ? ", with gradient checkpointing" : ""}`,
    memoryTable(memory, paint),
    "",
    table(["WINDOW", "MEMORY", "", ""], rows, paint),
    "",
    `The longest window that is chosen here: ${longest_window.toLocaleString("en")} tokens.`,
    `An imprint, with --method hypernetwork: ${memoryOf(imprint)}`,
  ].join("\n");
}

interface PlanCommandOptions extends CommonOptions {
  readonly baseModel?: string;
}

interface Asked {
  readonly context: CommandContext;
  readonly printer: Printer;
  readonly options: PlanCommandOptions;
}

/** What a training takes of this machine's memory, and what would fit. Exit code 1 where it does not fit. */
export async function planMemory(session: string | undefined, { context, printer, options }: Asked): Promise<void> {
  const { io } = context;
  const baseModel = await namedBaseModel(options.baseModel, options, io.env);
  const { tokens, ...asked } = readFlags(PLAN_OPTIONS, { ...options, baseModel });
  if (session !== undefined) {
    checkLoraRequest({ ...asked, session_id: session });
    return withService({ io, options, note: printer.note }, async ({ client }) => {
      const [id = session] = await storedSessions([session], { client, note: printer.note });
      const { memory } = await client.train.preview({ ...asked, session_id: id });
      context.state.exitCode = memory === null || memory.fits ? 0 : 1;
      printer.result({ session_id: id, memory }, () => (memory === null ? "unknown" : memoryTable(memory, io.paint.out)));
    });
  }
  const config = configFor(options, io.env);
  const { location } = requestedBaseModel(baseModel, baseModelsOf(config, io.env));
  const flags = Object.entries({ tokens, rank: asked.rank, "max-length": asked.max_length, quantization: asked.quantization });
  const given = flags.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, String(value)]));
  const [report] = await runTrainer(config, "imprint_trainer.memory_report", ["--base-model", location, ...given]);
  if (Errors(Report, report).length > 0)
    throw new CommandError("The trainer answered something else: imprint setup.", "TRAINER_ERROR");
  const answer = report as Report;
  context.state.exitCode = answer.memory === null || answer.memory.fits ? 0 : 1;
  printer.result(answer, () => shown(answer, io.paint.out));
}
