import { mkdir, mkdtemp, realpath, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

const DAY = 86_400;

/** A home with two repositories, and what Claude Code recorded in them so many days ago. */
export async function home(recorded: Readonly<Record<string, readonly number[]>>): Promise<string> {
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
