import { type ImportedFile, importSessions, inspectReport } from "@imprint/sessions";
import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { UsageError } from "../errors.js";
import type { Candidate } from "../files/candidate.js";
import { sourcesOf } from "../files/recorded.js";
import { walk } from "../files/walk.js";
import { isUnreadable } from "../import/import-files.js";
import { fullReason, shortReason } from "../import/refusals.js";
import type { Paint } from "../output/paint.js";
import { fields } from "../output/table.js";
import { count, plain } from "../output/text.js";

interface Inspected {
  readonly file: string;
  readonly imported: ImportedFile;
}

function refusalOf(file: string, reason: string): string {
  const [full, short] = [fullReason({ path: file, reason }), shortReason({ path: file, reason })];
  const more = full === `${short}.` ? "" : `; imprint import ${file} --dry-run --verbose says what was looked for`;
  return `${file}: ${short}${more}`;
}

/** Null for a file that was only come across in a folder and is no session. */
async function parse(candidate: Candidate): Promise<Inspected | null> {
  const { path: file, outcome } = candidate;
  try {
    return { file, imported: await importSessions(sourcesOf(candidate), outcome === undefined ? {} : { outcome }) };
  } catch (error) {
    if (isUnreadable(error) && !candidate.named) return null;
    if (isUnreadable(error)) throw new UsageError(refusalOf(file, error.message));
    if (!(error instanceof Error && "code" in error && "syscall" in error)) throw error;
    throw new UsageError(`${file}: cannot be read (${String(error.code)})`);
  }
}

/** One file after the other: a folder may hold more than fits beside each other. */
async function parseAll(candidates: readonly Candidate[]): Promise<readonly Inspected[]> {
  const read: Inspected[] = [];
  for (const candidate of candidates) {
    const one = await parse(candidate);
    if (one !== null) read.push(one);
  }
  return read;
}

const counted = (amounts: readonly (readonly [name: string, times: number])[]): string =>
  amounts.length === 0 ? "none" : amounts.map(([name, times]) => `${times} × ${plain(name)}`).join(", ");

function describe(file: string, imported: ImportedFile, paint: Paint): string {
  const report = inspectReport(imported);
  const several = imported.session_count === 1 ? "" : ` and ${imported.session_count - 1} more`;
  const rows = [
    ["file", file],
    ["session", `${paint("bold", report.session_id)}${several}`],
    ...(report.parent === undefined
      ? []
      : ([["from", `${report.parent.kinship} of ${plain(report.parent.session_id)}`]] as const)),
    ["format", [report.format, report.format_version].filter((part) => part !== null).join(" ")],
    ["outcome", report.outcome],
    ["turns", `${report.user_turns} of the user, ${report.assistant_turns} of the assistant`],
    ["tools", `${count(report.tool_calls, "call")}, ${count(report.tool_results, "result")}`],
    ["bad lines", String(report.bad_lines)],
    ["left out", counted(report.dropped.map(({ reason, count: times }) => [reason, times]))],
    ["redacted", counted(report.redactions.map(({ kind, count: times }) => [kind, times]))],
  ] as const;
  const warnings = imported.warnings.map((warning) => `${paint("yellow", "!")} ${plain(warning)}`);
  return [fields(rows, paint), ...warnings].join("\n");
}

export function inspectCommand(context: CommandContext): Command {
  return newCommand({
    name: "inspect",
    examples: ["inspect session.jsonl", "inspect run.traj --json", "inspect ~/.claude/projects"],
    service: "none",
  })
    .argument("<path...>", "files of recorded sessions, or folders that hold some")
    .action(async (paths: string[], options: CommonOptions) => {
      const { candidates, links } = await walk(paths);
      const read = await parseAll(candidates);
      const printer = printerOf(context, options);
      for (const { path: link, reason } of links) printer.note(`${link}: ${reason}`);
      if (read.length === 0) throw new UsageError(`${paths.join(", ")}: no recorded session is in there`);
      const [only] = read;
      // A single file gives one object; folders and several files give a list, whose members name their files.
      const isFile = candidates.length === 1 && candidates[0]?.named === true && only !== undefined;
      const reports = isFile
        ? inspectReport(only.imported)
        : read.map(({ file, imported }) => ({ file, ...inspectReport(imported) }));
      printer.result(reports, () =>
        read.map(({ file, imported }) => describe(file, imported, context.io.paint.out)).join("\n\n"),
      );
    });
}
