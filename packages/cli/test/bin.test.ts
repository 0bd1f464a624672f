import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { build } from "./support/build.js";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(build, 120_000);

const PACKAGE = fileURLToPath(new URL("../", import.meta.url));
const BIN = path.join(PACKAGE, "bin", "imprint.mjs");
const run = promisify(execFile);

const readJson = async (file: string): Promise<Record<string, never>> => JSON.parse(await readFile(file, "utf8"));

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), "imprint-bin-"));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

/** What the help shows as an example, which names the command as it was called. */
async function exampleOf(file: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const { stdout } = await run(file, [...args, "train", "--help"], { env: { PATH: process.env.PATH ?? "", ...env } });
  return /^ {2}\$ (.*) train harborline-gates --watch$/m.exec(stdout)?.[1] ?? stdout;
}

it("the command that npm links is there before anything is built: in git, executable, named by both package files", async () => {
  const { bin } = await readJson(path.join(PACKAGE, "package.json"));
  expect(bin).toEqual({ imprint: "./bin/imprint.mjs" });
  const lock = await readJson(path.join(PACKAGE, "..", "..", "package-lock.json"));
  expect(lock).toHaveProperty(["packages", "packages/cli", "bin", "imprint"], "bin/imprint.mjs");
  const { stdout } = await run("git", ["ls-files", "--stage", "bin/imprint.mjs"], { cwd: PACKAGE });
  expect(stdout).toMatch(/^100755 /);
});

it("without a bundle it says what makes one", async () => {
  const copy = path.join(await folder(), "bin", "imprint.mjs");
  await mkdir(path.dirname(copy));
  await copyFile(BIN, copy);
  await expect(run(process.execPath, [copy, "--version"])).rejects.toMatchObject({
    code: 1,
    stderr: "error: Imprint is not set up here: run npm run setup first.\n",
  });
});

it("hints name the command as it was called", async () => {
  const place = await folder();
  const link = path.join(place, "imprint");
  await symlink(BIN, link);
  expect(await exampleOf(link, [], { npm_command: "exec", npm_lifecycle_event: "npx" })).toBe("npx imprint");
  expect(await exampleOf(link, [], { PATH: `${process.env.PATH}${path.delimiter}${place}` })).toBe("imprint");
  // A link that is not on the path was called by its place: npx finds it from the checkout.
  expect(await exampleOf(link, [], {})).toBe("npx imprint");
  const script = { npm_command: "run-script", npm_lifecycle_event: "imprint" };
  expect(await exampleOf(process.execPath, [BIN], script)).toBe("npm run imprint --");
  const demo = { npm_command: "run-script", npm_lifecycle_event: "demo" };
  expect(await exampleOf(process.execPath, [BIN], demo)).toBe("npx imprint");
  expect(await exampleOf(process.execPath, [BIN], {})).toBe(`node ${path.relative(process.cwd(), BIN)}`);
});
