import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint } from "../support/imprint.js";
import { servedPlace } from "../support/service.js";
import { recording } from "../tasks/make/support/recordings.js";
import { ACTS, CHECK, repository, story } from "../tasks/make/support/repository.js";

vi.setConfig({ testTimeout: 90_000 });
beforeAll(build, 120_000);

async function recorded(acts = ACTS): Promise<{ readonly folder: string; readonly file: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), "imprint-recorded-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, "session.jsonl");
  await writeFile(file, recording("codex", story(acts)));
  return { folder, file };
}

describe("imprint tasks make", () => {
  it("makes a task of a recording's file, which tasks check holds to be one", async () => {
    const { folder: repo, start } = await repository();
    const { file } = await recorded();
    const made = await imprint(["tasks", "make", file, "--repo", repo, "--no-sandbox", "--json"]);
    expect([made.code, made.stderr.split("\n")[0]]).toEqual([0, `trying ${CHECK} before and after the session's own 2 edits`]);
    expect(JSON.parse(made.stdout)).toMatchObject({ task: "make-add-really-add-with-a-test", commit: start, check: CHECK });
    const checked = await imprint(["tasks", "check", "--no-sandbox"], { cwd: repo });
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining("holds: fails before")]);
    const again = await imprint(["tasks", "make", file, "--repo", repo, "--no-sandbox"]);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("is there: remove it with tasks rm make-add-")]);
  });

  it("makes one of a stored session, by the beginning of its id", async () => {
    const { folder: repo } = await repository();
    const { file } = await recorded();
    const { env } = await servedPlace();
    expect((await imprint(["import", file], { env })).code).toBe(0);
    const made = await imprint(["tasks", "make", "019f0000", "--repo", repo, "--no-sandbox"], { env });
    expect([made.code, made.stdout]).toEqual([
      0,
      expect.stringMatching(/^Task make-add-.*: fails before, passes after; .*\nIt begins at /),
    ]);
  });

  it("says why there is none, and ends with 1", async () => {
    const { folder: repo } = await repository();
    const { file } = await recorded(ACTS.slice(0, 4));
    const made = await imprint(["tasks", "make", file, "--repo", repo, "--no-sandbox"]);
    expect([made.code, made.stdout, made.stderr]).toEqual([1, "", "error: No task: the agent ran no test command.\n"]);
  });

  it("refuses what is no repository, no session, or several", async () => {
    const { folder: repo } = await repository();
    const { folder, file } = await recorded();
    const notGit = await imprint(["tasks", "make", file, "--repo", folder, "--no-sandbox"]);
    expect([notGit.code, notGit.stderr]).toEqual([2, expect.stringContaining("git keeps no repository there")]);
    await writeFile(file, "no session\n");
    const broken = await imprint(["tasks", "make", file, "--repo", repo, "--no-sandbox"]);
    expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining(file)]);
    const chat = {
      messages: [
        { role: "user", content: "Hi there" },
        { role: "assistant", content: "Hi" },
      ],
    };
    await writeFile(file, `${JSON.stringify(chat)}\n${JSON.stringify(chat)}\n`);
    const several = await imprint(["tasks", "make", file, "--repo", repo, "--no-sandbox"]);
    expect([several.code, several.stderr]).toEqual([
      2,
      expect.stringContaining("holds 2 sessions: import it, and name one of them"),
    ]);
    const { env } = await servedPlace();
    const unknown = await imprint(["tasks", "make", "nobody", "--repo", repo, "--no-sandbox"], { env });
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('there is no session "nobody"')]);
  });
});
