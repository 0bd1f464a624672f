import { type ErrorDetail, isWorse, type JobDetails, type TrainingPlan, verdictOf } from "@imprint/contracts";
import { evaluationText } from "../output/evaluation.js";
import { goOnLines } from "../output/left.js";
import type { Paint } from "../output/paint.js";
import { proofLines } from "../output/proof.js";
import { sweepLines } from "../output/sweep.js";
import { count, plain } from "../output/text.js";
import { hintFor, inCommandWords } from "../output/wording.js";

const seconds = (job: JobDetails): string => {
  if (job.started_at === null || job.finished_at === null) return "";
  return ` in ${((Date.parse(job.finished_at) - Date.parse(job.started_at)) / 1000).toFixed(1)} s`;
};

/** What can be done with what a training had learned before it ended badly. */
const kept = ({ job_id, kind, checkpoint }: JobDetails, name: string): readonly string[] =>
  checkpoint === null
    ? []
    : kind === "sweep"
      ? ["What it tried is kept.", ...goOnLines({ job_id, kind }, name)]
      : [`Step ${checkpoint.step} is kept.`, ...goOnLines({ job_id, kind: "lora" }, name)];

const sentences = ({ code, message, hint }: ErrorDetail): readonly string[] => [`${message} (${code})`, hintFor(code, hint)];

/** How a finished job ended: what was proved, and what to do about a failed one. `name` is how the command was called. */
export function outcome(job: JobDetails, paint: Paint, name: string): string {
  const leftOut = job.plan === null ? [] : leftOutLines(job.plan);
  const proof = job.proof === null ? [] : proofLines(job.proof, paint).map((line) => `  ${line}`);
  const warnings = [...leftOut, ...job.warnings.map(plain)].map((warning) => paint("yellow", `! ${warning}`));
  const { result } = job;
  const tried = result !== null && "trials" in result ? sweepLines(result, paint).map((line) => `  ${line}`) : [];
  if (result !== null && "verdict" in result) return [evaluationText(result, paint), ...warnings].join("\n\n");
  if (result !== null && "base_model" in result) return `${paint("green", "✓")} ${trainingHint(result.base_model, name)}`;
  if (job.status === "completed") {
    const steps = job.progress === null ? "" : ` after ${count(job.progress.step, "step")}`;
    const harms = job.proof !== null && verdictOf(job.proof) === "harms";
    const worse = job.proof !== null && isWorse(job.proof);
    const is = harms ? "is kept although it harms," : worse ? "is ready, but worse on held-out text," : "is ready";
    const mark = harms ? paint("red", "!") : worse ? paint("yellow", "!") : paint("green", "✓");
    const head = `${mark} ${paint("bold", job.adapter_id ?? "")} ${is}${seconds(job)}${steps}`;
    return [head, ...proof, ...tried, ...warnings].join("\n");
  }
  const measured = job.kind === "evaluate" ? ["What it measured is kept: the same command goes on."] : [];
  if (job.status === "cancelled")
    return [`Job ${job.job_id} was cancelled.`, ...tried, ...measured, ...kept(job, name), ...warnings].join("\n");
  const why = job.error === undefined ? [] : sentences(job.error).map((line) => plain(inCommandWords(line, name)));
  const [first = "", ...rest] = why;
  return [
    `${paint("red", "✗")} Job ${job.job_id} failed: ${first}`,
    ...rest.map((line) => `  ${line}`),
    ...proof,
    ...tried,
    ...kept(job, name),
    ...warnings,
  ].join("\n");
}

/** That a base model is here, and what can be done with it. */
export const trainingHint = (model: string, name: string): string =>
  `${model} is here.\n  ${name} train SESSION --base-model ${model} --watch\n  ${name} models default ${model}`;

/** A line for each session that is skipped, and one for each pair of sessions that share turns. */
export const leftOutLines = ({ skipped, shared }: Pick<TrainingPlan, "skipped" | "shared">): readonly string[] => [
  ...skipped.map(({ session_id, message }) => `skipped ${session_id}: ${plain(message)}`),
  ...shared.map((one) => `${one.session_id}: ${count(one.turns, "turn")} supervised in ${one.supervised_in}`),
];
