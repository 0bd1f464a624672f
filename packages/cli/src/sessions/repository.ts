import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Evidence, SessionSummary } from "@imprint/contracts";
import { judge } from "@imprint/sessions";

/** A repository of a hundred thousand commits is searched in less. */
const TIMEOUT_MS = 10_000;

/** What git prints; null where it fails, or there is no such folder, repository or commit. No setting of the repository starts a program. */
const git = async (folder: string, ...args: readonly string[]): Promise<string | null> => {
  const safe = ["-C", folder, "-c", "log.showSignature=false", "-c", "core.fsmonitor=false", "--no-pager", ...args];
  try {
    return (
      await promisify(execFile)("git", safe, { timeout: TIMEOUT_MS, env: { ...process.env, GIT_DIR: undefined } })
    ).stdout.trim();
  } catch {
    return null;
  }
};

/** What became of a commit: as it is where it stands in a branch, or the repository does not know it. */
async function whatBecame(folder: string, made: Evidence): Promise<Evidence> {
  const { commit } = made;
  if (made.kind !== "commit" || commit === undefined) return made;
  const [hash, subject] = (await git(folder, "log", "-1", "--format=%H%n%s", commit, "--"))?.split("\n") ?? [];
  if (hash === undefined || subject === undefined) return made;
  const reverting = await git(folder, "log", "--all", "-1", "--format=%h", `--grep=This reverts commit ${hash}`);
  if (reverting) return { ...made, kind: "reverted", what: `${made.what} by ${reverting}` };
  if ((await git(folder, "for-each-ref", "--count=1", `--contains=${hash}`)) !== "") return made;
  // Rebased and squashed commits have another hash, and the subject stays.
  const again = await git(folder, "log", "--all", "-1", "--format=%h", "--fixed-strings", `--grep=${subject}`);
  return again === "" ? { ...made, kind: "lost", what: `${made.what} is in no branch` } : made;
}

/** A session judged anew with what became of its commits, where the folder that it was recorded in is still there. */
export async function askRepository(session: SessionSummary): Promise<SessionSummary> {
  const { folder, judged } = session;
  if (folder === undefined || judged === undefined) return session;
  const evidence = await Promise.all(judged.evidence.map((one) => whatBecame(folder, one)));
  return { ...session, judged: { outcome: judge(evidence), evidence } };
}
