import { type Git, linesOf } from "./git.js";
import type { Ran } from "./shell-calls.js";
import { gitArguments } from "./work-span.js";

/** A commit that a session may have begun at, and what says so. */
export interface Candidate {
  readonly commit: string;
  /** Milliseconds since 1970, when it was written first: a rebase changes only when it was committed. */
  readonly written: number;
  readonly byReflog: boolean;
  /** The recording's own git named it as what is checked out. */
  readonly named: boolean;
  readonly onBranch: boolean;
}

export interface Began {
  /** Files that were read: without a time, only commits that changed one of them are told apart. */
  readonly paths: readonly string[];
  /** Milliseconds since 1970; null where the recording has no time. */
  readonly time: number | null;
  readonly branch: string | null;
}

const MOST = 400; // commits that are compared with what the agent read
const HASH = /\b[0-9a-f]{7,40}\b/;
/** Options by which the first commit that git shows is not where HEAD is, or its hash not what is shown first. */
const OTHER =
  /^--(?:all|graph|reverse|grep|author|since|until|format|pretty|skip|stat|diff-filter|abbrev-ref|show-toplevel|git-dir)/;
/** What agents put around an output. */
const FRAME = /<returncode>.*?<\/returncode>|^Chunk ID: .*$/gm;

/** What the first git command that shows where HEAD is printed of it, before a commit. */
export function namedHead(ran: readonly Ran[]): string | null {
  for (const one of ran) {
    const [verb = "", ...rest] = gitArguments(one) ?? [];
    if (verb === "commit") return null;
    const asked = rest.filter((word) => !word.startsWith("-") && !/^\d+$/.test(word) && word !== "HEAD");
    const isHead = verb === "rev-parse" ? rest.includes("HEAD") : /^(?:log|show|reflog)$/.test(verb) && asked.length === 0;
    if (!isHead || rest.some((word) => OTHER.test(word)) || one.action.failed) continue;
    const hash = HASH.exec(one.action.output.replace(FRAME, ""))?.[0];
    if (hash !== undefined) return hash;
  }
  return null;
}

/** What the repository's own log of a reference says was there at a time. */
async function reflogAt(git: Git, reference: string, time: number): Promise<string | null> {
  const entries = linesOf(await git("reflog", "show", "--date=unix", "--format=%H %gd", reference, "--")).map((line) => {
    const [, commit = "", seconds = ""] = /^([0-9a-f]+) .*@\{(\d+)/.exec(line) ?? [];
    return { commit, time: Number(seconds) * 1000 };
  });
  return entries.find((one) => one.commit !== "" && one.time <= time)?.commit ?? null;
}

/** The branch that the recording names, here or at a remote; where it is gone, what is checked out. */
async function referencesOf(git: Git, branch: string | null): Promise<readonly string[]> {
  const patterns = [`refs/heads/${branch}`, `refs/remotes/*/${branch}`];
  const found = branch === null ? [] : linesOf(await git("for-each-ref", "--format=%(refname)", ...patterns));
  return found.length > 0 ? found : ["HEAD"];
}

/** Commits that a session may have begun at: those written before it, and those that a reflog or the recording names; the newest first. */
export async function candidatesIn(git: Git, { time, branch, paths }: Began, ran: readonly Ran[]): Promise<readonly Candidate[]> {
  const references = await referencesOf(git, branch);
  const reflogs =
    time === null ? [] : await Promise.all([...new Set(["HEAD", ...references])].map((one) => reflogAt(git, one, time)));
  const head = namedHead(ran);
  const named = head === null ? null : ((await git("rev-parse", "--verify", "--quiet", `${head}^{commit}`))?.trim() ?? null);
  const own = new Set(linesOf(await git("rev-list", "--first-parent", ...references, "--")));
  const special = [named, ...reflogs].filter((one) => one !== null);
  const format = ["--no-walk=unsorted", "--format=%H %at"];
  const changing = time === null ? paths.map((path) => `:(top,literal)${path}`) : [];
  const written = [
    ...linesOf(await git("log", "--all", "--author-date-order", "--format=%H %at", "--", ...changing)),
    ...(special.length === 0 ? [] : linesOf(await git("log", ...format, ...special))),
  ].map((line) => ({ commit: line.split(" ")[0] ?? "", written: Number(line.split(" ")[1]) * 1000 }));
  const times = new Map(written.map((one) => [one.commit, one.written]));
  const isSpecial = new Set(special);
  const before = [...times].filter(([commit, at]) => isSpecial.has(commit) || time === null || at <= time);
  return before
    .map(([commit, at]) => ({
      commit,
      written: at,
      byReflog: reflogs.includes(commit),
      named: commit === named,
      onBranch: own.has(commit),
    }))
    .toSorted(
      (left, right) => Number(isSpecial.has(right.commit)) - Number(isSpecial.has(left.commit)) || right.written - left.written,
    )
    .slice(0, MOST);
}
