import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { build } from "../support/build.js";
import { imprint } from "../support/imprint.js";

beforeAll(build, 120_000);

const DAY = 86_400;

it("finds what Claude Code recorded, asks once, says what is deleted soon, and gives it back", async () => {
  const home = await mkdtemp(path.join(tmpdir(), "imprint-home-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const env = { HOME: home, IMPRINT_DATA_DIR: path.join(home, "data") };
  const projects = path.join(home, ".claude", "projects", "-shop");
  await mkdir(projects, { recursive: true });
  const old = path.join(projects, "old.jsonl");
  await writeFile(old, '{"type":"user","message":{"role":"user","content":"retry the upload"}}\n');
  const then = Date.now() / 1000 - 28 * DAY;
  await utimes(old, then, then);

  const asked = await imprint(["archive"], { env });
  expect(asked).toMatchObject({ code: 2, stdout: "" });
  expect(asked.stderr).toContain("--yes: Keep compressed copies");
  const first = await imprint(["archive", "--yes"], { env });
  expect(first.stdout).toContain("1 new, 0 changed; 0 are gone");
  expect(first.stdout).toContain("deletes recordings after 30 days (cleanupPeriodDays): 1 file within a week");
  expect((await imprint(["archive", "--search", "retry the upload"], { env })).stdout.trim()).toBe(old);

  const bytes = await readFile(old);
  await rm(old);
  expect((await imprint(["archive"], { env })).stdout).toContain("1 are gone from their places and stay here");
  expect((await imprint(["archive", "--restore"], { env })).stdout.trim()).toBe("Restored 1 file.");
  expect(await readFile(old)).toEqual(bytes);
  const to = await imprint(["archive", "--restore", "--to", path.join(home, "copy"), "--json"], { env });
  const { restored } = JSON.parse(to.stdout);
  expect(await readFile(restored[0])).toEqual(bytes);

  await writeFile(restored[0], "mine");
  const refused = await imprint(["archive", "--restore", "--to", path.join(home, "copy")], { env });
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stdout).toContain("--force");
  expect(await readFile(restored[0], "utf8")).toBe("mine");
});

it("an index that cannot be read is refused in a sentence, and stays", async () => {
  const data = await mkdtemp(path.join(tmpdir(), "imprint-data-"));
  onTestFinished(() => rm(data, { recursive: true, force: true }));
  const index = path.join(data, "archive", "index.json");
  await mkdir(path.dirname(index));
  await writeFile(index, '{"version":1,"files":[{"path"');
  const { code, stderr } = await imprint(["archive", data, "--yes"], { env: { IMPRINT_DATA_DIR: data } });
  expect(code).toBe(1);
  expect(stderr).toContain("cannot be read: move it away and archive anew");
  expect(await readFile(index, "utf8")).toContain('"path"');
});
