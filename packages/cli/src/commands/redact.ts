import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { UsageError } from "../errors.js";
import { walk } from "../files/walk.js";
import { count, plain } from "../output/text.js";
import { checkTargets, type Plan, plansOf } from "../redact/targets.js";
import { type Redacted, redactFile } from "../redact/write.js";

interface RedactOptions extends CommonOptions {
  readonly out?: string;
  readonly inPlace?: boolean;
}

interface Refused {
  readonly path: string;
  readonly reason: string;
}

/** One recording after the other: a folder may hold more than fits beside each other. */
async function redactAll(plans: readonly Plan[]): Promise<{ done: readonly Redacted[]; refused: readonly Refused[] }> {
  const done: Redacted[] = [];
  const refused: Refused[] = [];
  for (const plan of plans) {
    const result = await redactFile(plan);
    if (typeof result !== "string") done.push(result);
    else if (plan.named) refused.push({ path: plan.path, reason: result });
  }
  return { done, refused };
}

const counted = ({ redactions }: Redacted): string =>
  redactions.length === 0 ? "nothing found" : redactions.map(({ kind, count: times }) => `${times} × ${plain(kind)}`).join(", ");

export function redactCommand(context: CommandContext): Command {
  return newCommand({
    name: "redact",
    examples: ["redact session.jsonl", "redact ~/.claude/projects --out ./to-share", "redact run.traj --in-place"],
    service: "none",
  })
    .argument("<path...>", "files of recorded sessions, or folders that hold some")
    .option("-o, --out <folder>", "where the copies go (default: beside each file, as NAME.redacted.jsonl)")
    .option("--in-place", "put the redacted files in the place of the given ones")
    .action(async (paths: string[], { out, inPlace = false, ...options }: RedactOptions) => {
      if (out !== undefined && inPlace) throw new UsageError("--out and --in-place exclude each other");
      const { candidates, links } = await walk(paths);
      const plans = plansOf(candidates, { paths, out, inPlace });
      await checkTargets(plans, { inPlace });
      const printer = printerOf(context, options);
      for (const { path: link, reason } of links) printer.note(`${link}: ${reason}`);
      const { done, refused } = await redactAll(plans);
      const refusals = refused.map(({ path, reason }) => `${path}: ${reason}`);
      if (done.length === 0) throw new UsageError(refusals.join("\n") || `${paths.join(", ")}: no recorded session is in there`);
      for (const refusal of refusals) printer.note(refusal);
      if (refused.length > 0) context.state.exitCode = 1;
      printer.result({ files: done, refused }, () =>
        [
          ...done.map((one) => `${one.written.map(plain).join(", ")}: ${counted(one)}`),
          `${count(done.length, "recording")} redacted; a search finds only what looks like a secret: read what you pass on.`,
        ].join("\n"),
      );
    });
}
