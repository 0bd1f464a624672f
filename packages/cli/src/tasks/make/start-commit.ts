import type { Began, Candidate } from "./candidates.js";
import { candidatesIn } from "./candidates.js";
import { filesAt, type Git } from "./git.js";
import { pathBelow } from "./places.js";
import { holds, type Seen } from "./seen.js";
import type { Ran } from "./shell-calls.js";
import type { Span } from "./work-span.js";

/** The commit that a session began at. */
export interface Start {
  readonly commit: string;
  /** What speaks for it, as sentences' parts. */
  readonly evidence: readonly string[];
  /** Files that no commit holds as the agent read them. */
  readonly different: readonly string[];
}

interface Given extends Omit<Began, "paths"> {
  readonly git: Git;
  readonly ran: readonly Ran[];
  readonly seen: readonly Seen[];
  /** The actions that count. */
  readonly span: Span;
  /** What the recording calls the repository's top, and the folder that its paths begin in. */
  readonly root: string;
  readonly folder: string;
  /** Every path that the repository ever had: other files that were read tell nothing. */
  readonly known: ReadonlySet<string>;
}

interface Scored {
  readonly candidate: Candidate;
  readonly held: readonly Seen[];
}

/** Which of the files a commit holds as they were seen; each blob is read once. */
async function score(
  git: Git,
  candidates: readonly Candidate[],
  seen: readonly (Seen & { below: string })[],
): Promise<readonly Scored[]> {
  const known = new Map<string, boolean>();
  const holdsAt = async (blob: string, one: Seen, index: number): Promise<boolean> => {
    const key = `${blob} ${index}`;
    const found = known.get(key) ?? holds((await git("cat-file", "blob", blob)) ?? "", one);
    known.set(key, found);
    return found;
  };
  const scored: Scored[] = [];
  for (const candidate of candidates) {
    const files = seen.length === 0 ? new Map<string, string>() : await filesAt(git, candidate.commit);
    const held: Seen[] = [];
    for (const [index, one] of seen.entries()) {
      const blob = files.get(one.below);
      if (blob !== undefined && (await holdsAt(blob, one, index))) held.push(one);
    }
    scored.push({ candidate, held });
  }
  return scored;
}

const rank = ({ candidate: { byReflog, named, onBranch }, held }: Scored): readonly number[] => [
  held.length,
  Number(named),
  Number(byReflog),
  Number(onBranch),
];

/** Better first; among equals the newest, as they came. */
function byEvidence(left: Scored, right: Scored): number {
  const [mine, others] = [rank(left), rank(right)];
  return (
    mine.map((value, at) => (others[at] ?? 0) - value).find((difference) => difference !== 0) ??
    right.candidate.written - left.candidate.written
  );
}

/** The commit with the most evidence; a sentence's part that says why there is none. */
export async function startCommit({ git, root, folder, known, time, branch, span, ...all }: Given): Promise<Start | string> {
  const inSpan = ({ at }: { readonly at: number }): boolean => at >= span.from && at < span.to;
  const below = all.seen.filter(inSpan).flatMap((one) => {
    const path = pathBelow(root, one.path, folder);
    return path === null || !known.has(path) ? [] : [{ ...one, below: path }];
  });
  const files = new Set(below.map((one) => one.below));
  const candidates = await candidatesIn(git, { time, branch, paths: [...files] }, all.ran.filter(inSpan));
  const [best] = (await score(git, candidates, below)).toSorted(byEvidence);
  if (best === undefined) return "the repository has no commit from before the session";
  const { candidate, held } = best;
  // A file that is read again may have been changed by what no edit says: its first sight counts.
  const firsts = below.filter((one, at) => below.findIndex(({ below: path }) => path === one.below) === at);
  const wrong = firsts.filter((one) => !held.includes(one)).map((one) => one.below);
  if (files.size > 0 && held.length === 0)
    return `no commit from before the session holds any of the ${files.size} files that the agent read as it read them`;
  if (files.size === 0 && time === null && !candidate.named)
    return "the recording has no time, no commit and no file that could tell when it began";
  const evidence = [
    ...(files.size > 0
      ? [`it holds ${files.size - wrong.length} of the ${files.size} files that the agent read as it read them`]
      : []),
    ...(candidate.named ? ["git named it in the recording"] : []),
    ...(candidate.byReflog ? ["the reflog had it checked out when the work began"] : []),
    ...(candidate.onBranch ? ["it is on the session's branch, or on what is checked out"] : []),
    ...(time === null ? [] : ["it was written before its work began"]),
  ];
  return { commit: candidate.commit, evidence, different: wrong };
}
