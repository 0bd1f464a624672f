import { chmod, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { importSessions, redactRecording } from "@imprint/sessions";
import { makeTarget, notWritten } from "../export/target.js";
import { sourcesOf } from "../files/recorded.js";
import { isUnreadable } from "../import/import-files.js";
import { shortReason } from "../import/refusals.js";
import type { Plan } from "./targets.js";

export interface Redacted {
  readonly path: string;
  readonly written: readonly string[];
  readonly redactions: readonly { readonly kind: string; readonly count: number }[];
}

/** Writes beside the target and renames, so that no half of a file is ever there; the mode is that of the original. */
async function put(text: string, { from, to }: Plan["files"][number]): Promise<void> {
  const { mode } = await stat(from);
  const target = from === to ? await realpath(to) : to;
  makeTarget(path.dirname(target));
  const beside = `${target}.${process.pid}.tmp`;
  try {
    await writeFile(beside, text, { flag: "wx", mode: 0o600 });
    await chmod(beside, mode & 0o777);
    await rename(beside, target);
  } catch (error) {
    throw notWritten(target, error);
  } finally {
    await rm(beside, { force: true });
  }
}

/** The redacted texts of one recording; the reason when it is none, or cannot be read. */
async function redactedOf({ path: given, files }: Plan): Promise<Awaited<ReturnType<typeof redactRecording>> | string> {
  try {
    const { size } = await stat(files[0]?.from ?? given);
    const sources = sourcesOf({ path: given, parts: files.map(({ from }) => from), size });
    // What no importer knows is no recording: it may be binary, or mean something by a string that is replaced.
    await importSessions(sources, { onSession: () => undefined });
    return await redactRecording(sources);
  } catch (error) {
    if (isUnreadable(error)) return shortReason({ path: given, reason: error.message });
    if (error instanceof Error && "code" in error && "syscall" in error) return `cannot be read (${String(error.code)})`;
    throw error;
  }
}

/** Redacts one recording; gives the reason when it is none, or cannot be read. Throws where it cannot be written. */
export async function redactFile(plan: Plan): Promise<Redacted | string> {
  const { path: given, files } = plan;
  const redacted = await redactedOf(plan);
  if (typeof redacted === "string") return redacted;
  const { texts, redactions } = redacted;
  for (const [index, file] of files.entries()) await put(texts[index] ?? "", file);
  return { path: given, written: files.map(({ to }) => to), redactions };
}
