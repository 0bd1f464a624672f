import { stat } from "node:fs/promises";
import { type ImportedFile, importSessions, inspectReport } from "@imprint/sessions";
import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { UsageError } from "../errors.js";
import { sourcesOf } from "../files/recorded.js";
import { isUnreadable } from "../import/unreadable.js";
import type { Paint } from "../output/paint.js";
import { fields } from "../output/table.js";
import { count, plain } from "../output/text.js";

async function parse(file: string): Promise<ImportedFile> {
  try {
    const about = await stat(file);
    if (about.isDirectory()) throw new UsageError(`${file} is a folder: inspect takes files, import walks folders`);
    return await importSessions(sourcesOf({ path: file, size: about.size }));
  } catch (error) {
    if (isUnreadable(error)) throw new UsageError(`${file}: ${error.message}`);
    if (!(error instanceof Error && "code" in error && "syscall" in error)) throw error;
    throw new UsageError(
      `${file}: ${error.code === "ENOENT" ? "there is no such file" : `cannot be read (${String(error.code)})`}`,
    );
  }
}

const counted = (amounts: readonly (readonly [name: string, times: number])[]): string =>
  amounts.length === 0 ? "none" : amounts.map(([name, times]) => `${times} × ${plain(name)}`).join(", ");

function describe(file: string, imported: ImportedFile, paint: Paint): string {
  const report = inspectReport(imported);
  const several = imported.session_count === 1 ? "" : ` and ${imported.session_count - 1} more`;
  const rows = [
    ["file", file],
    ["session", `${paint("bold", report.session_id)}${several}`],
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
    description: "parse recorded sessions and say what is in them; stores nothing",
    examples: ["inspect session.jsonl", "inspect run.traj --json"],
    service: "none",
  })
    .argument("<file...>", "files of recorded sessions")
    .action(async (files: string[], options: CommonOptions) => {
      const read = await Promise.all(files.map(async (file) => ({ file, imported: await parse(file) })));
      const reports = read.map(({ imported }) => inspectReport(imported));
      printerOf(context, options).result(reports.length === 1 ? reports[0] : reports, () =>
        read.map(({ file, imported }) => describe(file, imported, context.io.paint.out)).join("\n\n"),
      );
    });
}
