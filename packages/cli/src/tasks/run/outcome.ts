import { createHash } from "node:crypto";
import { readdir, readFile, readlink } from "node:fs/promises";
import path from "node:path";
import type { TaskOutcome } from "@imprint/contracts";
import type { SandboxEnd } from "../sandbox.js";
import type { Heard } from "./gate.js";

/** The files of a workspace by their paths, each by the hash of what it holds; without git's own, which nothing here runs. */
export async function filesOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const at = path.join(entry.parentPath, entry.name);
    const name = path.relative(folder, at);
    if (entry.isDirectory() || name.split(path.sep)[0] === ".git") continue;
    const content = entry.isFile() ? await readFile(at) : entry.isSymbolicLink() ? await readlink(at) : "";
    files.set(name, createHash("sha256").update(content).digest("hex"));
  }
  return files;
}

/** The files that were changed, made or removed. */
export const changedIn = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter((name) => before.get(name) !== after.get(name)).sort();

/** The files that a patch changes. */
export const filesOfPatch = (patch: string): readonly string[] =>
  [...patch.matchAll(/^(?:---|\+\+\+) [ab]\/(.+?)\t?$/gm)].map(([, file = ""]) => file);

const LONGEST = 300;

/** What a program said last. */
const lastLine = (text: string): string => text.trim().split("\n").at(-1)?.trim().slice(0, LONGEST) ?? "";

interface Seen {
  readonly solved: boolean;
  readonly end: SandboxEnd;
  readonly heard: Heard;
  /** Turns that it may take, once it wanted more. */
  readonly full: number | null;
  readonly seconds: number;
  readonly changed: readonly string[];
  readonly calls: number;
  /** The task's solution, a patch. */
  readonly solution: string | undefined;
}

interface Ended {
  readonly outcome: TaskOutcome;
  readonly detail: string | null;
}

function limitOf({ end, heard, full, seconds }: Seen): Ended | null {
  const of = (detail: string): Ended => ({ outcome: "limit", detail });
  if (full !== null) return of(`after ${full} turns`);
  if (end.stopped === "seconds") return of(`after ${seconds} seconds`);
  if (end.stopped === "memory" || end.stopped === "processes" || end.stopped === "disk") return of(`too much: ${end.stopped}`);
  if (heard.refused?.code === "CONTEXT_LENGTH_EXCEEDED") return of("the conversation is longer than the model's context");
  return null;
}

/** How a run went: what the check says counts most, then why the agent could do nothing. */
export function outcomeOf(seen: Seen): Ended {
  const { solved, end, heard, changed, calls, solution } = seen;
  if (solved) return { outcome: "solved", detail: null };
  const limit = limitOf(seen);
  const failure: Ended = {
    outcome: "error",
    detail:
      heard.refused?.message.slice(0, LONGEST) || lastLine(end.stderr) || lastLine(end.stdout) || "it never asked the model",
  };
  if (heard.turns === 0) return limit ?? failure;
  if (calls === 0 && changed.length === 0 && heard.refused === null) return { outcome: "no_call", detail: limit?.detail ?? null };
  if (limit !== null) return limit;
  if (end.code !== 0 || heard.refused !== null) return failure;
  const wanted = filesOfPatch(solution ?? "");
  if (wanted.length > 0 && changed.length > 0 && !changed.some((file) => wanted.includes(file)))
    return { outcome: "wrong_file", detail: changed.slice(0, 3).join(", ").slice(0, LONGEST) };
  return { outcome: "check_failed", detail: null };
}
