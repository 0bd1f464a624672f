import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { learnedBy, membersOf, type ProjectRecord, putMembers, putProject, type RunRow } from "../../src/projects/rows.js";
import { openDatabase } from "../../src/storage/open.js";
import { inTransaction } from "../../src/storage/transaction.js";
import { makeFolder } from "../support/service.js";

test("a project takes ten thousand sessions at once, and again with what they are now", async () => {
  const database = openDatabase({ path: join(makeFolder(), "registry.db") });
  onTestFinished(() => database.destroy());
  const members = (characters: number) =>
    Array.from({ length: 10_000 }, (_, at) => ({
      ...{ project: "shop", session_id: `session-${at}`, sha256: "0".repeat(64), content: "1".repeat(64), opening: "Task" },
      ...{ at: "2026-01-01T00:00:00.000Z", characters },
    }));
  const stored = await inTransaction(database, async (db) => {
    await putProject(db, { name: "shop", base_model: "m", folders: [], settings: {}, created_at: "2026-01-01T00:00:00.000Z" });
    await putMembers(db, members(1));
    await putMembers(db, members(2));
    return membersOf(db, "shop");
  });
  expect(stored).toHaveLength(10_000);
  expect(new Set(stored.map(({ characters }) => characters))).toEqual(new Set([2]));
});

test.each([
  [3, ["one", "three"]], // the second was refused
  [2, ["one", "two"]],
  [1, ["one"]],
  [null, []],
])("with run %s as the latest it and the accepted ones before it have taught their sessions", (latest, taught) => {
  const runs = ["three", "two", "one"].map((session_id, at) => {
    const chosen = { new: [{ session_id, content: "c" }], replayed: [], held_out: [], basis: "" };
    return { run: 3 - at, adapter_id: `shop-${3 - at}`, chosen, moved: session_id !== "two" } as Partial<RunRow> as RunRow;
  });
  const record = { runs, latest: latest === null ? null : { adapter_id: `shop-${latest}` } } as Partial<ProjectRecord>;
  const learned = learnedBy(record as ProjectRecord).map(({ session_id }) => session_id);
  expect(learned.sort()).toEqual(taught.sort());
});
