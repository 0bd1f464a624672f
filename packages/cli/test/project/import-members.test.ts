import type { SessionFormat } from "@imprint/contracts";
import { expect, it } from "vitest";
import type { ImportedFile, ImportedSession } from "../../src/import/import-files.js";
import { oneRepository } from "../../src/project/import-members.js";

const file = (...sessions: readonly (readonly [id: string, repository?: string, format?: SessionFormat])[]): ImportedFile => ({
  path: "x",
  status: "stored",
  warnings: [],
  sessions: sessions.map(
    ([session_id, repository, format = "codex"]) =>
      ({ session_id, format, ...(repository !== undefined && { repository }) }) as ImportedSession,
  ),
});

const choosing = (name: string) => {
  const notes: string[] = [];
  return { notes, choose: oneRepository(name, (text) => void notes.push(text)) };
};

it("takes all sessions of one repository, and those that do not say theirs", () => {
  const { choose, notes } = choosing("math");
  expect(choose([file(["a", "shop"], ["b"]), file(["a", "shop"])])).toEqual(["a", "b"]);
  expect(notes).toEqual([]);
});

it("takes of several the repository that is called as the project, and says how many it leaves out", () => {
  const { choose, notes } = choosing("shop");
  expect(choose([file(["a", "Shop"], ["b", "api"], ["c", "api"], ["d"])])).toEqual(["a", "d"]);
  expect(notes).toEqual(["2 sessions of other repositories left out."]);
});

it("refuses several of which none is, and says how to name one", () => {
  expect(() => choosing("math").choose([file(["a", "shop"], ["b", "api"], ["c", "api"])])).toThrow(
    "sessions of 2 repositories are there, and a project is of one: api (2), shop (1)\nName it: --repository api",
  );
});

it("keeps to the repository that it began with while it watches", () => {
  const { choose, notes } = choosing("math");
  expect(choose([file(["a", "shop"])])).toEqual(["a"]);
  expect(choose([file(["b", "api"])])).toEqual([]);
  expect(choose([file(["c", "api"], ["d", "shop"])])).toEqual(["d"]);
  expect(notes).toHaveLength(2);
});

it("takes runs of a benchmark together, which are of many repositories", () => {
  const { choose } = choosing("swe");
  expect(choose([file(["a", "django", "swe-agent"], ["b", "sympy", "swe-agent"])])).toEqual(["a", "b"]);
});
