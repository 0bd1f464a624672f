import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { importSessions, inspectReport } from "@imprint/sessions";
import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { CommandError, UsageError } from "../errors.js";
import { isUnreadable } from "../import/unreadable.js";
import { fields } from "../output/table.js";
import { plain } from "../output/text.js";

async function readNamed(file: string): Promise<Uint8Array> {
  try {
    if ((await stat(file)).isDirectory()) throw new UsageError(`${file} is a folder: inspect takes files, import walks folders`);
    return await readFile(file);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    throw new UsageError(`${file}: ${code === "ENOENT" ? "there is no such file" : `cannot be read (${String(code)})`}`);
  }
}

async function read(file: string, bytes: Uint8Array): ReturnType<typeof importSessions> {
  try {
    return await importSessions(bytes, { name: path.basename(file) });
  } catch (error) {
    throw isUnreadable(error) ? new CommandError(`${file}: ${error.message}`, "SESSION_UNREADABLE") : error;
  }
}

const counted = (counts: readonly { readonly name: string; readonly count: number }[]): string =>
  counts.length === 0 ? "none" : counts.map(({ name, count }) => `${count} × ${plain(name)}`).join(", ");

export function inspectCommand(context: CommandContext): Command {
  return newCommand({
    name: "inspect",
    description: "parse recorded sessions and say what is in them; stores nothing",
    examples: ["inspect session.jsonl", "inspect run.traj --json"],
    service: false,
  })
    .argument("<file...>", "files of recorded sessions")
    .action(async (files: string[], options: CommonOptions) => {
      const printer = printerOf(context, options);
      const paint = context.io.paint.out;
      const contents = await Promise.all(files.map(readNamed));
      const reports = [];
      for (const [index, file] of files.entries()) {
        const imported = await read(file, contents[index] ?? new Uint8Array());
        for (const session of imported.sessions)
          reports.push({ file, report: inspectReport(session), warnings: imported.warnings });
      }
      const documents = reports.map(({ report }) => report);
      printer.result(documents.length === 1 ? documents[0] : documents, () =>
        reports
          .map(({ file, report, warnings }) =>
            [
              fields(
                [
                  ["file", file],
                  ["session", paint("bold", report.session_id)],
                  ["format", [report.format, report.format_version].filter((part) => part !== null).join(" ")],
                  ["outcome", report.outcome],
                  ["turns", `${report.user_turns} of the user, ${report.assistant_turns} of the assistant`],
                  ["tools", `${report.tool_calls} calls, ${report.tool_results} results`],
                  ["bad lines", String(report.bad_lines)],
                  ["left out", counted(report.dropped.map(({ reason, count }) => ({ name: reason, count })))],
                  ["redacted", counted(report.redactions.map(({ kind, count }) => ({ name: kind, count })))],
                ],
                paint,
              ),
              ...warnings.map((warning) => `${paint("yellow", "!")} ${plain(warning)}`),
            ].join("\n"),
          )
          .join("\n\n"),
      );
    });
}
