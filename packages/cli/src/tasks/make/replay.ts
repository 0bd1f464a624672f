import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Edited } from "./edits.js";
import { gitIn } from "./git.js";
import { type Solution, solutionBetween } from "./patch.js";
import { pathBelow } from "./places.js";

interface Given {
  /** A folder with the state at the start, in which git has one clean commit. */
  readonly workspace: string;
  readonly edits: readonly Edited[];
  readonly root: string;
  readonly folder: string;
}

const textOf = (file: string): Promise<string | null> => readFile(file, "utf8").catch(() => null);

async function put(file: string, text: string): Promise<boolean> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
  return true;
}

/** Whether an edit could be made: the text that it replaces is there. */
async function make({ edit }: Edited, file: string, to: string | null): Promise<boolean> {
  if (edit.kind === "write") return put(file, edit.text);
  const text = await textOf(file);
  if (text === null) return false;
  if (edit.kind === "remove") return rm(file).then(() => true);
  if (edit.kind === "move") {
    if (to === null) return false;
    await mkdir(path.dirname(to), { recursive: true });
    return rename(file, to).then(() => true);
  }
  if (!text.includes(edit.old)) return false;
  const replaced = edit.all ? text.replaceAll(edit.old, () => edit.text) : text.replace(edit.old, () => edit.text);
  return put(file, replaced);
}

/** What the session's own edits make of the state at the start; null where they change nothing there. */
export async function replayed({ workspace, edits, root, folder }: Given): Promise<Solution | null> {
  const git = gitIn(workspace);
  let missed = 0;
  for (const one of edits) {
    const below = pathBelow(root, one.edit.path, folder);
    if (below === null || below.startsWith(".git/")) continue;
    const to = one.edit.kind === "move" ? pathBelow(root, one.edit.to, folder) : null;
    const isMade = await make(one, path.join(workspace, below), to === null ? null : path.join(workspace, to)).catch(() => false);
    if (!isMade) missed++;
  }
  await git("add", "--all");
  const end = (await git("write-tree"))?.trim();
  const lost = missed === 0 ? "" : `; ${missed} of them did not fit`;
  return end === undefined ? null : solutionBetween(git, ["HEAD", end], `the session's own ${edits.length} edits${lost}`);
}
