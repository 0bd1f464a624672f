import { readFileSync } from "node:fs";
import { type ImportedFile, type ImportOptions, importSessions } from "@imprint/sessions";

/** Imports one file with this text. */
export const importText = (text: string, options: ImportOptions = {}, name = "session.jsonl"): Promise<ImportedFile> =>
  importSessions([{ name, bytes: new TextEncoder().encode(text) }], options);

/** Imports one of the recordings in `formats/cases`. */
export const importCase = (name: string): Promise<ImportedFile> =>
  importText(readFileSync(new URL(`../formats/cases/${name}`, import.meta.url), "utf8"), {}, name);

export const jsonLines = (...records: readonly unknown[]): string =>
  `${records.map((record) => JSON.stringify(record)).join("\n")}\n`;

/** What a file was read as, in the numbers that reports give. */
export const countsOf = ({ counts }: ImportedFile): readonly number[] => [
  counts.user_turns,
  counts.assistant_turns,
  counts.tool_calls,
  counts.tool_results,
];

export const answersOf = ({ sessions }: ImportedFile): string[] =>
  sessions.flatMap((session) => session.steps.filter((step) => step.source === "agent").map((step) => step.text));

export const usersOf = ({ sessions }: ImportedFile): string[] =>
  sessions.flatMap((session) => session.steps.filter((step) => step.source === "user").map((step) => step.text));

export const droppedOf = ({ dropped }: ImportedFile): Record<string, number> =>
  Object.fromEntries(dropped.map(({ reason, count }) => [reason, count]));
