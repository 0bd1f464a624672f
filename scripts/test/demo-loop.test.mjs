import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { CHECK, EXPERT, FILES } from "../lib/demo/loop/task.mjs";

const DEMO = fileURLToPath(new URL("../demo.mjs", import.meta.url));

test("the loop's task fails its check, and the expert's commands make it pass", () => {
  const cwd = mkdtempSync(path.join(tmpdir(), "imprint-loop-"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(path.join(cwd, name), text);
  const [program, ...args] = CHECK;
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1" };
  const check = () => spawnSync(program, args, { cwd, env }).status;
  expect(check()).toBe(1);
  for (const answer of EXPERT) {
    const [, call] = /<tool_call>\n(.*)\n<\/tool_call>/.exec(answer);
    expect(spawnSync("bash", ["-c", JSON.parse(call).arguments.command], { cwd, env }).status).toBe(0);
  }
  expect(check()).toBe(0);
});

test("the demo refuses an option that it does not have", () => {
  const { status, stderr } = spawnSync(process.execPath, [DEMO, "--lop"], { encoding: "utf8" });
  expect([status, stderr]).toEqual([2, "npm run demo takes --loop, --runner ray, or nothing, not --lop.\n"]);
});
