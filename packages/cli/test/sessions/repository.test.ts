import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { SessionSummary } from "@imprint/contracts";
import { expect, it, onTestFinished } from "vitest";
import { askRepository } from "../../src/sessions/repository.js";

const WHO = ["-c", "user.name=Dev", "-c", "user.email=dev@example.com", "-c", "commit.gpgsign=false"];

/** A repository with one commit, and what runs git in it. */
async function repository(): Promise<{ folder: string; git: (...args: string[]) => string; commit: (text: string) => string }> {
  const folder = await mkdtemp(path.join(tmpdir(), "imprint-outcome-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const git = (...args: string[]): string => execFileSync("git", ["-C", folder, ...WHO, ...args], { encoding: "utf8" }).trim();
  const commit = (text: string): string => {
    git("commit", "--allow-empty", "--quiet", "--message", text);
    return git("rev-parse", "--short", "HEAD");
  };
  git("init", "--quiet", "--initial-branch=main");
  commit("Begin");
  return { folder, git, commit };
}

const session = (folder: string, commit: string): SessionSummary => ({
  ...{ session_id: "s", format: "claude-code", format_version: null, outcome: "unknown", task: "Round", folder },
  ...{ user_turns: 1, assistant_turns: 1, tool_calls: 1, tool_results: 1, bad_lines: 0, dropped: [], redactions: [] },
  ...{ sha256: "0".repeat(64), created_at: "2026-03-03T00:00:00.000Z" },
  judged: { outcome: "success", evidence: [{ kind: "commit", what: `${commit} "Round prices"`, commit }] },
});

const judged = async (folder: string, commit: string) => (await askRepository(session(folder, commit))).judged;

it("a commit that stands in a branch stays what it was", async () => {
  const { folder, commit } = await repository();
  const made = commit("Round prices");
  expect(await judged(folder, made)).toEqual(session(folder, made).judged);
});

it("a commit that a later one reverts speaks against the session", async () => {
  const { folder, git, commit } = await repository();
  const made = commit("Round prices");
  const hash = git("rev-parse", made);
  const revert = commit(`Revert "Round prices"\n\nThis reverts commit ${hash}.`);
  expect(await judged(folder, made)).toEqual({
    outcome: "failure",
    evidence: [{ kind: "reverted", what: `${made} "Round prices" by ${revert}`, commit: made }],
  });
});

it("a commit that is in no branch any more is lost, but not one that was rebased", async () => {
  const { folder, git, commit } = await repository();
  const made = commit("Round prices");
  git("reset", "--hard", "--quiet", "HEAD~1");
  expect((await judged(folder, made))?.evidence[0]).toMatchObject({
    kind: "lost",
    what: `${made} "Round prices" is in no branch`,
  });
  commit("Another one before");
  commit("Round prices");
  expect((await judged(folder, made))?.outcome).toBe("success");
});

it("a folder that is gone, is no repository, or does not know the commit changes nothing", async () => {
  const { folder } = await repository();
  const plain = await mkdtemp(path.join(tmpdir(), "imprint-outcome-"));
  onTestFinished(() => rm(plain, { recursive: true, force: true }));
  await writeFile(path.join(plain, "notes.txt"), "");
  for (const place of [folder, plain, path.join(plain, "gone")])
    expect(await judged(place, "1a2b3c4")).toEqual(session(place, "1a2b3c4").judged);
});
