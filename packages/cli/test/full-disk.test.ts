import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { build, MAIN } from "./support/build.js";
import { type Ended, imprint } from "./support/imprint.js";
import { EXAMPLES, place, servedPlace } from "./support/service.js";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(build, 120_000);

/** The real command where no file may hold a byte, as on a full disk. Killed when it does not end. */
const onFullDisk = async (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  stdout: "pipe" | number = "pipe",
): Promise<Ended> => {
  const { PATH = "", HOME = "" } = process.env;
  const limited = ["-c", 'ulimit -f 0; exec "$@"', "sh", process.execPath, MAIN, ...args];
  const child = spawn("sh", limited, { env: { PATH, HOME, ...env }, stdio: ["ignore", stdout, "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) child[name]?.on("data", (text) => (said[name] += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...said };
};

const expectSentence = ({ code, stderr }: Ended, sentence: RegExp, exitCode = 1): void => {
  expect(stderr).toMatch(sentence);
  expect(stderr).not.toMatch(/\n\s+at |Unexpected|fault of imprint|Internal error|(?<![\w-])E[A-Z]{4,}\b/);
  expect(code).toBe(exitCode);
};

describe("on a full disk", () => {
  it.each(["sessions", "serve --port 0", "train some-session", "import ."])(
    "imprint %s says so of its data directory",
    async (line) => {
      const at = await place();
      await imprint(["import", EXAMPLES], at);
      const ended = await onFullDisk(line.split(" "), at.env);
      expectSentence(ended, /error: The data directory .* cannot be used: the disk is full. Free space, or choose another/, 2);
    },
  );

  it.each([
    "export-sessions --format messages --out OUT",
    "export-sessions --format hub --out OUT",
    "export-sessions --format atif --out OUT",
    "redact EXAMPLES --out OUT",
  ])("imprint %s says which file it could not write", async (line) => {
    const at = await servedPlace();
    await imprint(["import", EXAMPLES], at);
    const out = path.join(at.root, "out");
    const ended = await onFullDisk(line.replace("EXAMPLES", EXAMPLES).replace("OUT", out).split(" "), at.env);
    expectSentence(ended, new RegExp(`error: ${out}.* cannot be written: a file would be larger than this user may write`));
  });

  it("a command whose answer finds no room says so and fails", async () => {
    const at = await servedPlace();
    const full = openSync("/dev/full", "w");
    onTestFinished(() => closeSync(full));
    expectSentence(await onFullDisk(["models", "--json"], at.env, full), /Standard output cannot be used: the disk is full/);
  });
});

describe("where nothing can be made", () => {
  it.each([
    "export-sessions --format hub --out /proc/imprint/a/b",
    "export-sessions --format messages --out /proc/imprint/a/b.jsonl",
    "redact EXAMPLES --out /proc/imprint/a",
  ])("imprint %s ends with a sentence", async (line) => {
    const at = await servedPlace();
    await imprint(["import", EXAMPLES], at);
    const ended = await imprint(line.replace("EXAMPLES", EXAMPLES).split(" "), at);
    expectSentence(ended, /error: \/proc\/imprint.* cannot be made: nothing can be made there/);
  });
});
