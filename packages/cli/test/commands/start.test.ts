import { mkdir, mkdtemp, realpath, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint } from "../support/imprint.js";
import { servedPlace } from "../support/service.js";

vi.setConfig({ testTimeout: 180_000 });
beforeAll(build, 120_000);

const DAY = 86_400;

/** A home with two repositories, and what Claude Code recorded in them so many days ago. */
async function home(recorded: Readonly<Record<string, readonly number[]>>): Promise<string> {
  const root = await realpath(await mkdtemp(path.join(tmpdir(), "imprint-home-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  for (const [name, ages] of Object.entries(recorded)) {
    const cwd = path.join(root, "code", name);
    await mkdir(path.join(cwd, ".git"), { recursive: true });
    const projects = path.join(root, ".claude", "projects", cwd.replaceAll(/[^\w]/g, "-"));
    await mkdir(projects, { recursive: true });
    for (const [at, age] of ages.entries()) {
      const id = `00000000-0000-4000-8000-${name.length}${String(at).padStart(11, "0")}`;
      const common = { sessionId: id, cwd, version: "2.0.0", timestamp: "2026-01-01T00:00:00.000Z", isSidechain: false };
      const lines = [
        {
          ...common,
          type: "user",
          uuid: `${id}-1`,
          parentUuid: null,
          message: { role: "user", content: `Write ${name} ${at}.` },
        },
        {
          ...common,
          type: "assistant",
          uuid: `${id}-2`,
          parentUuid: `${id}-1`,
          message: { id: `m-${id}`, role: "assistant", model: "m", content: [{ type: "text", text: `Here is ${name} ${at}.` }] },
        },
      ];
      const file = path.join(projects, `${id}.jsonl`);
      await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
      const then = Date.now() / 1000 - age * DAY;
      await utimes(file, then, then);
    }
  }
  return root;
}

it("lists repositories, keeps the recordings, trains on the one with most work of late, and says how to run an agent on it", async () => {
  const at = await servedPlace();
  const HOME = await home({ shop: [3, 2, 4], ledger: [90, 80, 70] });
  const ended = await imprint(["start", "--yes"], { ...at, env: { ...at.env, HOME, FORCE_COLOR: "1" } });
  const [stdout, stderr] = [ended.stdout, ended.stderr].map(stripVTControlCharacters);
  expect(ended.code, stderr).toBe(0);
  expect(`${stdout}${stderr}`).not.toContain("\\u001b");
  expect(stderr).toMatch(/1 +shop +3 .*\n2 +ledger +3 /);
  expect(stderr).toContain(`3 sessions in ${path.join(HOME, "code", "shop")}, 3 of them new here.`);
  expect(stdout).toContain("6 new, 0 changed");
  expect(stdout).toContain("code/shop && ");
  expect(stdout).toMatch(/launch claude latest\n$/);
});

it("where nobody answers, and where nothing was recorded, it says what to do", async () => {
  const HOME = await home({});
  expect(await imprint(["start"], { env: { HOME } })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--yes answers them all"),
  });
  expect(await imprint(["start", "--yes"], { env: { HOME } })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("import FOLDER takes recordings from elsewhere"),
  });
});
