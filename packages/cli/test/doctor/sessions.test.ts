import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { checkSessions } from "../../src/doctor/sessions.js";

it("names what lies among the sessions and is not read", async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), "imprint-doctor-"));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  expect(await checkSessions({ dataDir, limit: 1e6 })).toMatchObject({ status: "ok" });
  const at = (name: string): string => path.join(dataDir, "sessions", name);
  await mkdir(at("folder.json"), { recursive: true });
  await writeFile(at("fine.json"), "{}");
  expect(await checkSessions({ dataDir, limit: 1e6 })).toMatchObject({
    status: "warning",
    detail: "1 file not read (folder.json: it is a folder, and only a regular file is read)",
  });
  await symlink("/dev/zero", at("endless.json"));
  await writeFile(at("huge.json"), "");
  await truncate(at("huge.json"), 5e9);
  const { detail } = await checkSessions({ dataDir, limit: 1e6 });
  expect(detail).toMatch(/^3 files not read/);
  for (const said of ["endless.json: it is a link", "huge.json: the file has 5000000000 bytes, more than session_limit"])
    expect(detail).toContain(said);
});
