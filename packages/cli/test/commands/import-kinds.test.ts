import { copyFile, mkdir } from "node:fs/promises";
import path from "node:path";
import Libsql from "libsql";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint } from "../support/imprint.js";
import { type Place, place, servedPlace } from "../support/service.js";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(build, 120_000);

const FORK = path.join(import.meta.dirname, "../../../sessions/test/formats/cases/codex-fork.jsonl");
const PARENT = "019f9000-0000-7000-8000-00000000000a";

/** A folder in the place that holds the fork and an opencode store of these tables. */
async function folderWith(at: Place, ...tables: readonly string[]): Promise<string> {
  const folder = path.join(at.root, "recorded");
  await mkdir(folder);
  await copyFile(FORK, path.join(folder, "rollout.jsonl"));
  const db = new Libsql(path.join(folder, "opencode.db"));
  for (const table of tables) db.exec(`create table ${table}(id text)`);
  db.close();
  return folder;
}

describe("import of sessions that are kin to others", () => {
  it("shows what a session came from, in the list and alone", async () => {
    const at = await servedPlace();
    const imported = await imprint(["import", FORK], at);
    expect([imported.code, imported.stdout]).toEqual([0, expect.stringContaining("fork: Now drop the duplicate readings.")]);
    const { sessions } = JSON.parse((await imprint(["sessions", "--json"], at)).stdout);
    expect(sessions).toMatchObject([{ parent: { session_id: PARENT, kinship: "fork" }, user_turns: 1, assistant_turns: 2 }]);
    expect((await imprint(["sessions"], at)).stdout).toContain("fork: Now drop the duplicate readings.");
    expect((await imprint(["inspect", FORK], at)).stdout).toMatch(new RegExp(`^from +fork of ${PARENT}$`, "m"));
  });

  it("fails for a store of an unknown generation, and brings what stands beside it", async () => {
    const at = await place();
    const { code, stdout } = await imprint(["import", await folderWith(at, "session_v3", "turn"), "--dry-run"], at);
    expect(code).toBe(1);
    expect(stdout).toContain("opencode.db: holds sessions in tables that Imprint does not know (session_v3)");
    expect(stdout).toContain("1 session would be stored, 1 file not imported.");
  });
});
