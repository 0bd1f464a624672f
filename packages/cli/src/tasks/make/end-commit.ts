import type { Action } from "./actions.js";
import type { Edit } from "./apply-patch.js";
import type { Edited } from "./edits.js";
import { filesAt, type Git, linesOf } from "./git.js";
import { pathBelow } from "./places.js";

/** What git says when it has committed. */
const COMMITTED = /^\[([^\s\]]+)(?: \([\w-]+\))? ([0-9a-f]{7,40})\] (.+)$/gm;
const MOST = 200; // commits behind the start that are looked at
const ENOUGH = 0.6; // of the texts that were written last

interface Given {
  readonly git: Git;
  readonly start: string;
  readonly actions: readonly Action[];
  readonly edits: readonly Edited[];
  readonly root: string;
  readonly folder: string;
}

/** The last commit that the recording shows being made and that the repository holds, by its hash or, rebased since, by its subject. */
async function committed({ git, actions, start }: Given): Promise<string | null> {
  const made = actions.flatMap(({ command, output }) =>
    command === null ? [] : [...output.matchAll(COMMITTED)].map(([, , hash = "", subject = ""]) => ({ hash, subject })),
  );
  for (const { hash, subject } of made.toReversed()) {
    const own = (await git("rev-parse", "--verify", "--quiet", `${hash}^{commit}`))?.trim();
    if (own !== undefined && own !== start && (await git("merge-base", "--is-ancestor", start, own)) !== null) return own;
    const [same] = linesOf(await git("log", "--all", "--format=%H %s", `^${start}`)).filter((line) => line.slice(41) === subject);
    if (same !== undefined) return same.slice(0, 40);
  }
  return null;
}

/** What the last edits left in each file: texts that it must hold, unless someone changed them again. */
function left(edits: readonly Edited[], { root, folder }: Given): readonly { path: string; text: string }[] {
  const byPath = new Map<string, Edit[]>();
  for (const { edit } of edits) {
    const path = pathBelow(root, edit.path, folder);
    if (path !== null) byPath.set(path, [...(byPath.get(path) ?? []), edit]);
  }
  return [...byPath].flatMap(([path, all]) => {
    const last = all.at(-1);
    return last === undefined || !("text" in last) || last.text.trim() === "" ? [] : [{ path, text: last.text.trim() }];
  });
}

/** The first commit behind the start that holds the most of what the edits left, where that is most of it. */
async function holding(given: Given): Promise<string | null> {
  const { git, start, edits } = given;
  const texts = left(edits, given);
  if (texts.length === 0) return null;
  const paths = [...new Set(texts.map(({ path }) => path))].map((path) => `:(top,literal)${path}`);
  const after = linesOf(
    await git("rev-list", "--reverse", "--topo-order", "--all", "--ancestry-path", `^${start}`, "--", ...paths),
  );
  let best: { commit: string; held: number } | null = null;
  for (const commit of after.slice(0, MOST)) {
    const files = await filesAt(git, commit);
    let held = 0;
    for (const { path, text } of texts) {
      const blob = files.get(path);
      const found = blob === undefined ? null : await git("cat-file", "blob", blob);
      if (found?.replaceAll("\r", "").includes(text)) held++;
    }
    if (held > (best?.held ?? 0)) best = { commit, held };
  }
  return best !== null && best.held >= ENOUGH * texts.length ? best.commit : null;
}

/** The commit that holds what the session left, and what says so; null where there is none. */
export async function endCommit(given: Given): Promise<{ readonly commit: string; readonly from: string } | null> {
  const own = await committed(given);
  if (own !== null) return { commit: own, from: `commit ${own.slice(0, 10)}, which the session made` };
  const next = await holding(given);
  return next === null ? null : { commit: next, from: `commit ${next.slice(0, 10)}, which holds what the session wrote` };
}
